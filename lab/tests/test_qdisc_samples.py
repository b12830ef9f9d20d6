# SPDX-License-Identifier: GPL-2.0-or-later
"""The bottleneck's samples are decoded from the kernel's own netlink answers."""

import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.errors import UserError
from lab.tables.qdisc import COLUMNS, read_samples

FILE = Path(__file__).parent / "data/draft/qdisc.raw"
RAW = FILE.read_bytes()
SAMPLES = read_samples(FILE)
RECORD_BYTES = len(RAW) // SAMPLES.height
BUFFER_BYTES = 20_000


def test_every_sample_is_there_with_every_counter() -> None:
    assert SAMPLES.columns == list(COLUMNS)
    assert SAMPLES.height == 87
    assert SAMPLES.null_count().sum_horizontal().item() == 0


def test_what_is_queued_stays_within_the_buffer_and_is_made_of_packets() -> None:
    assert 0 < SAMPLES["backlog_bytes"].max() <= BUFFER_BYTES  # type: ignore[operator]
    assert ((SAMPLES["backlog_bytes"] == 0) == (SAMPLES["backlog_pkts"] == 0)).all()
    assert (SAMPLES["backlog_bytes"] <= SAMPLES["backlog_pkts"] * 1514).all()


def test_counters_only_grow() -> None:
    for name in ("t_ns", "sent_bytes", "sent_pkts", "drops_pkts"):
        assert (SAMPLES[name].diff().drop_nulls() >= 0).all()
    assert SAMPLES["drops_pkts"][-1] == 32


@given(st.integers(0, len(RAW)))
@settings(max_examples=50)
def test_a_sampler_that_was_stopped_while_writing_loses_its_last_sample_only(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    file = tmp_path_factory.getbasetemp() / "qdisc.raw"
    file.write_bytes(RAW[:cut])
    assert read_samples(file).equals(SAMPLES.head(cut // RECORD_BYTES))


def test_the_kernels_error_is_not_taken_for_a_sample(tmp_path: Path) -> None:
    error = struct.pack("<IHHIIi", 36, 2, 0, 1, 0, -19) + bytes(16)
    (tmp_path / "qdisc.raw").write_bytes(struct.pack("<QI", 1, len(error)) + error)
    with pytest.raises(UserError, match=r"qdisc\.raw: must hold samples of a qdisc"):
        read_samples(tmp_path / "qdisc.raw")
