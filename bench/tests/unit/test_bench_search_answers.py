# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of answers: its tables state pairs and intervals, and where forms have separated."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from lab.base.paths import REPO

EXIT = {
    "place": "geo", "trials": 12, "pairs": 12, "early": 2, "chokepoint": 10, "late": 0, "lo_pct": 55.0, "hi_pct": 95.0,
    "only_form": 0, "only_base": 0, "later_rtts": 0.0, "later_lo": 0.0, "later_hi": 0.0, "separated": None,
}  # fmt: skip
CALLS = {
    "place": "calls", "form": "mine", "trials": 8, "left": 8, "early": 7, "limited": 1, "pairs": 8,
    "cost_ms": 1234.5, "cost_lo": 900.0, "cost_hi": 1600.0, "separated": True,
}  # fmt: skip
WINDOW = {
    "place": "leo", "form": "mine", "trials": 12, "bdps": 1.5, "pairs": 12, "further_bdps": -0.25, "further_lo": -0.4,
    "further_hi": -0.1, "separated": False,
}  # fmt: skip
FORMS = {
    name: {"sender": "search9", "params": {}, "second_rtt": False, "current_rtt": False} for name in ("base", "mine")
}


def sentences(monkeypatch: pytest.MonkeyPatch, folder: Path, way: str, *rows: dict[str, Any]) -> list[str]:
    monkeypatch.syspath_prepend(str(REPO / "docs"))
    answers = importlib.import_module("generate.search_answers")
    answer = {
        "question": "Which?", "asked": "us", "way": way, "base": "base", "measure": "chokepoint", "forms": FORMS,
        "not_run": ["time"], "rows": [*rows, {**rows[0], "form": "base"}],
    }  # fmt: skip
    stored = {
        "commit": "abc",
        "measured_at": "2026-11-26T00:00:00Z",
        "command": "make",
        "answers": {"4-threshold": answer},
    }
    (folder / "search-answers.json").write_text(json.dumps(stored))
    monkeypatch.setattr(answers.measurements, "FOLDER", folder)
    page = answers.page()
    assert 'Not measured yet: `make bench-search BENCH="9-interpolation"`' in page
    return [line for line in page.split("## Which?")[1].split("\n## ")[0].splitlines() if line[:2] in ("* ", "| ")]


@pytest.mark.parametrize(
    ("change", "row"),
    [
        ({"separated": False}, "| `mine` | 12 | 0 | 0 | nowhere | no exit moves |"),
        (
            {"separated": True, "only_form": 9, "later_rtts": -1.5, "later_lo": -2.0, "later_hi": -1.0},
            "| `mine` | 12 | 9 | 0 | geo | geo: 1.50 RTTs earlier [-2.00, -1.00] |",
        ),
    ],
)
def test_exits_are_stated_with_their_pairs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, change: dict[str, Any], row: str
) -> None:
    not_run, head, mine, *_ = sentences(monkeypatch, tmp_path, "replayed", {**EXIT, "form": "mine"} | change)
    assert not_run == "* Not run: time."
    assert head == "| form | pairs | at the chokepoint: only it | only `base` | separated on | exits move most on |"
    assert mine == row


def test_costs_and_windows_stand_with_their_intervals(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    *_, cost = sentences(monkeypatch, tmp_path, "workload", CALLS)
    assert "7 of 8 early, 1 limited, +1,234 [900, 1,600]&nbsp;ms&nbsp;* |" in cost
    *_, window = sentences(monkeypatch, tmp_path, "window", WINDOW)
    assert "1.50 BDPs, -0.25 [-0.40, -0.10]&nbsp;BDPs |" in window
