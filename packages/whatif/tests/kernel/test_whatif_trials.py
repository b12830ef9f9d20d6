# SPDX-License-Identifier: GPL-2.0-or-later
"""The link of a trial comes back from its own capture, and the prediction for another sender holds."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from lab_whatif.command import Request, answer
from lab_whatif.judged import judged
from lab_whatif.measures import measured
from lab_whatif.replay import emulated
from rich.console import Console

from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on

RECORDED_S = 5


@pytest.fixture(scope="module")
def original(bench: Bench) -> Trial:
    return bench.run(experiment_on(SMALL, "cubic_plain", duration_s=RECORDED_S), "cubic_plain", "whatif")


@pytest.fixture(scope="module")
def capture(original: Trial, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trial's capture as dumpcap wrote it."""
    file = tmp_path_factory.mktemp("capture") / "small.pcapng"
    with pa.input_stream(str(original.path / "client.pcapng.zst"), compression="zstd") as stream:
        file.write_bytes(stream.read())
    return file


def test_the_profile_comes_back_from_the_capture(capture: Path) -> None:
    _, found, side = judged(capture, None, [])
    assert side == "receiver"
    assert found.path.base_rtt_ms == pytest.approx(100, abs=found.path.step_ms)
    assert found.capacity.filter("known")["rate_mbps"].median() == pytest.approx(20, rel=0.01)
    assert found.buffer.kind == "tail"
    assert found.buffer.bytes == pytest.approx(500_000, rel=0.02)


def test_the_exit_that_the_flight_shows_is_the_kernels(original: Trial, capture: Path) -> None:
    numbers, true = measured(judged(capture, None, [])[1]), emulated(original)
    assert true.exit_s is not None
    assert numbers.exit_s == pytest.approx(true.exit_s, rel=0.05)


def test_the_true_download_lies_in_the_range(
    bench: Bench, capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = emulated(bench.run(experiment_on(SMALL, "search", duration_s=RECORDED_S), "search", "whatif"))
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    console = Console(quiet=True)
    answer(Request(capture, "cubic_plain", "search", None, "internal", tmp_path / "out", 2), console)
    rows = (tmp_path / "out" / "whatif.csv").read_text().splitlines()
    names = rows[0].split(",")
    cells = {tuple(row.split(",")[:2]): dict(zip(names, row.split(","), strict=False)) for row in rows[1:]}
    assert cells["cubic_plain", "5 MB"]["answer"] == "FITS"
    for mark in (1, 5):
        found = cells["search", f"{mark} MB"]
        assert found["answer"] == "RANGE"
        assert float(found["low"]) <= (true.measures.mark_s[mark] or 0) <= float(found["high"])
    assert "round trip, ms" in (tmp_path / "out" / "whatif.html").read_text()
    assert json.loads((tmp_path / "out" / "evidence.json").read_text())["captured_at"] == "receiver"
