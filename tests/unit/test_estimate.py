# SPDX-License-Identifier: GPL-2.0-or-later
"""What users are told of times is what was measured, by scenario."""

import json
from pathlib import Path

import pytest

from lab.runs import estimate
from lab.runs.estimate import MEASURED, about, minutes


@pytest.fixture(autouse=True)
def forgotten() -> None:
    estimate._costs.cache_clear()


def test_a_scenario_takes_as_long_as_was_measured_and_another_one_lies_among_those() -> None:
    stored = json.loads(MEASURED.read_text())
    for row in stored["scenarios"]:
        found = minutes(row["scenario"], row["trials"], row["duration_s"], stored["machine"]["cores"])
        assert found == pytest.approx(row["trials"] * row["wall_s"] / 60)
    stored = json.loads(MEASURED.read_text())
    known = [minutes(row["scenario"], 10, 30, 1) for row in stored["scenarios"]]
    assert min(known) <= minutes("of a user", 10, 30, 1) <= max(known)


def test_without_measurements_no_time_is_stated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "MEASURED", tmp_path / "nowhere.json")
    assert about(minutes("geo", 10, 30, 2)) == "a time that was not measured"
