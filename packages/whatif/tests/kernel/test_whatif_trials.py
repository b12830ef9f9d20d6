# SPDX-License-Identifier: GPL-2.0-or-later
"""The link of a trial comes back from its own capture, and the prediction for another sender holds."""

import json
from io import StringIO
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from lab_whatif.command import Request, answer
from lab_whatif.judged import judged
from lab_whatif.measures import measured
from lab_whatif.replay import emulated
from rich.console import Console

from lab.links.profile import Profile
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on

RECORDED_S = 5
UNDER_CODEL = Profile.model_validate(
    SMALL.model_dump(exclude_none=True)
    | {"down": {"rate_mbps": 20.0, "delay_ms": 50.0, "buffer_bytes": 2_000_000, "queue": {"kind": "codel"}}}
)


@pytest.fixture(scope="module")
def original(bench: Bench) -> Trial:
    return bench.run(experiment_on(SMALL, "cubic_plain", duration_s=RECORDED_S), "cubic_plain", "whatif")


def capture_of(trial: Trial, folder: Path) -> Path:
    file = folder / "small.pcapng"
    with pa.input_stream(str(trial.path / "client.pcapng.zst"), compression="zstd") as stream:
        file.write_bytes(stream.read())
    return file


@pytest.fixture(scope="module")
def capture(original: Trial, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return capture_of(original, tmp_path_factory.mktemp("capture"))


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


@pytest.mark.parametrize(
    ("link", "where"), [(SMALL, "this link"), (UNDER_CODEL, "this link under CoDel")], ids=["tail drop", "CoDel"]
)
def test_the_true_download_lies_in_the_range(
    bench: Bench, link: Profile, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded, true = (
        bench.run(experiment_on(link, cca, duration_s=RECORDED_S), cca, f"whatif-{link.down.buffer_bytes}")
        for cca in ("cubic_plain", "search")
    )
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    said = Console(record=True, width=200, file=StringIO())
    capture = capture_of(recorded, tmp_path)
    answer(Request(capture, "cubic_plain", "search", None, "internal", tmp_path / "out", 2), said)
    assert f"FITS: cubic_plain, replayed on {where}, does what was recorded." in said.export_text()
    cells = {(row["sender"], row["quantity"]): row for row in pl.read_csv(tmp_path / "out" / "whatif.csv").to_dicts()}
    assert cells["cubic_plain", "5 MB"]["answer"] == "FITS"
    for mark in (1, 5):
        found = cells["search", f"{mark} MB"]
        assert found["answer"] == "RANGE"
        assert found["low"] <= emulated(true).measures.mark_s[mark] <= found["high"]
    assert "round trip (ms)" in (tmp_path / "out" / "whatif.html").read_text()
    assert json.loads((tmp_path / "out" / "evidence.json").read_text())["captured_at"] == "receiver"
    seeds = [seed for (seed,) in seeds_of_links(tmp_path / "results").values()]  # of one link all trials draw alike
    assert len(seeds) == len(set(seeds)) > 1


def seeds_of_links(results: Path) -> dict[str, set[int]]:
    seeds: dict[str, set[int]] = {}
    for file in results.glob("whatif-small-*/*/run.json"):
        run = json.loads(file.read_text())
        seeds.setdefault(run["name"].removesuffix("-others").removesuffix("-codel"), set()).add(run["scenario"]["seed"])
    return seeds
