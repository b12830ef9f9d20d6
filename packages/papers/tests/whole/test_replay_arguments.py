# SPDX-License-Identifier: GPL-2.0-or-later
"""The replay of SEARCH's core over an ACK stream: where it ends, and where it begins again."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from lab_papers.search_replay import (
    EXIT,
    FRACTION,
    PRINTED,
    SENT,
    SearchParams,
    built_versions,
    exit_pkts,
    replay,
    replay_bins,
    version,
)

from lab.base.errors import UserError
from lab.judge.ack_stream import ack_stream
from tests.approved import approved
from tests.slow_start_model import download
from tests.stored_run import LINK


@pytest.fixture(scope="module")
def stream() -> pl.DataFrame:
    """The ACKs of a sender that goes on until it loses something."""
    return ack_stream(download(LINK).tables()["acks"])


def bins(library: Path, stream: pl.DataFrame, **more: Any) -> pl.DataFrame:
    return replay(library, stream["t_us"], stream["rtt_us"], stream["delivered_bytes"], **more)


def test_a_replay_and_its_bins_end_with_the_exit_unless_they_are_to_go_on(library: Path, stream: pl.DataFrame) -> None:
    found = bins(library, stream)
    assert found["exit"].to_list() == [False] * (found.height - 1) + [True]
    onward = bins(library, stream, stop_at_exit=False)
    assert onward.head(found.height).equals(found)
    assert onward.height > found.height
    assert onward["exit"].sum() == 1
    own = replay_bins(library, stream["t_us"], stream["rtt_us"], stream["delivered_bytes"])
    assert (own["verdict"] == EXIT).tolist() == found["exit"].to_list()
    known = dict(zip(stream["t_us"], stream["rtt_us"], strict=True))
    assert found["rtt_ms"].to_list() == pytest.approx([known[round(t_s * 1e6)] / 1e3 for t_s in found["t_s"]])


def test_after_a_reset_a_window_has_to_fill_before_anything_is_compared(library: Path, stream: pl.DataFrame) -> None:
    onward = bins(library, stream, stop_at_exit=False)
    left_s = onward.filter("exit")["t_s"].item()
    reset = (stream["t_us"] > left_s * 1e6).cum_sum() == 1  # before the next ACK
    found = bins(library, stream, stop_at_exit=False, reset=reset.to_numpy())
    before = pl.col("t_s") <= left_s
    assert found.filter(before).equals(onward.filter(before))
    assert found.filter(~before)["norm_pct"][0] is None
    assert onward.filter(~before)["norm_pct"][0] is not None


def test_a_sender_that_did_not_fill_its_window_is_not_compared(library: Path, stream: pl.DataFrame) -> None:
    always, never = ([value] * stream.height for value in (1, 0))
    onward = bins(library, stream, stop_at_exit=False)
    assert bins(library, stream, stop_at_exit=False, limited=never).equals(onward)
    assert onward["norm_pct"].null_count() < onward.height
    limited = bins(library, stream, stop_at_exit=False, limited=always)
    assert limited["norm_pct"].null_count() == limited.height
    assert not limited["exit"].any()


def test_a_column_that_has_no_value_for_an_ack_is_refused(library: Path, stream: pl.DataFrame) -> None:
    for name in ("limited", "reset", "sent_bytes"):
        with pytest.raises(ValueError, match=rf"^shape=\(3,\): must be one value per ACK, \({stream.height},\)$"):
            bins(library, stream, **{name: [0, 0, 0]})
    with pytest.raises(ValueError, match=r"^sent_bytes=None: must be given to versions that expect what was sent$"):
        bins(library, stream, params=SearchParams(expected=SENT))


def test_without_parameters_the_core_is_algorithm_1_of_the_thesis(library: Path, stream: pl.DataFrame) -> None:
    """Windows of 3.5 round trips in 10 bins, 15 bins more to look back, and an exit at 35 %; nothing added later."""
    chosen = {"window_factor_tenths": 35, "bins": 10, "extra_bins": 15, "threshold_pct": 35, "interpolation": FRACTION}
    assert asdict(PRINTED) == dict.fromkeys(asdict(PRINTED), 0) | chosen
    for changed in ({"window_factor_tenths": 36}, {"bins": 11}, {"threshold_pct": 20}):
        other = bins(library, stream, params=SearchParams(**changed), stop_at_exit=False)
        assert not other.equals(bins(library, stream, stop_at_exit=False))


def test_each_version_replays_a_download_as_approved(library: Path, stream: pl.DataFrame) -> None:
    """Its parameters, what it compares, when it leaves, and with which window; each twentieth bin."""
    sent = stream["delivered_bytes"] + 100 * 1448
    lines = []
    for name in sorted(built_versions(library)):
        known = version(library, name)
        found = replay_bins(
            library,
            stream["t_us"],
            stream["rtt_us"],
            stream["delivered_bytes"],
            known.params,
            sent_bytes=sent,
            compact=known.compact,
        )
        chosen = {field: value for field, value in asdict(known.params).items() if value}
        windows = [exit_pkts(library, known.params, row, 1000, 1448) for row in found[found["verdict"] == EXIT]]
        lines.append(f"{name}: {chosen}, compact={known.compact}: {len(found)} bins, leaves with {windows}")
        lines += [f"{name}: {row}" for row in found[::20].tolist()]
    expected = approved("replays.txt", "\n".join(lines) + "\n").splitlines()
    names = {line.split(":")[0] for line in expected}  # a new version waits for its approval
    assert [line for line in lines if line.split(":")[0] in names] == expected
    with pytest.raises(UserError, match=r"SEARCH_NAME=none: must be one of .*search2"):
        version(library, "none")
    with pytest.raises(UserError, match=r"must be within the ranges of lab/kernel/search/search_core\.h$"):
        bins(library, stream, params=SearchParams(bins=0))
