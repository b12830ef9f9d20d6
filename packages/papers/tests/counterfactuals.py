# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenario files of the test's own: `mine`, and `faster`, its counterfactual."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.base import paths

TRIALS, SENDERS = 12, ("search", "cubic_plain")
BASE = {
    "question": "Is the link as fast as the source's?",
    "topology": "path",
    "profile": "geo-small",
    "ccas": list(SENDERS),
    "trials": TRIALS,
    "duration_s": 4,
    "seed": 1,
    "tolerance": {"relative_pct": 2},
}
FASTER = {"counterfactual_of": "mine", "profile": "wired-clean"}
BECAUSE = "the link is half as fast"


def explained(*scenarios: str, **changes: Any) -> dict[str, Any]:
    """State a row of a source's table, with the scenarios that test why ours differs."""
    tests = [{"scenario": name, "because": BECAUSE, "moves": ["loss_s"]} for name in scenarios]
    row = {"source": "paper, table 1", "row": "Mine", "cca": "cubic_plain", "values": {"loss_s": 9.0}}
    return row | {"counterfactuals": tests} | changes


def own_scenarios(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder of scenarios that replaces those of the lab and of packages."""
    monkeypatch.setattr(paths, "SCENARIOS", tmp_path / "scenarios")
    monkeypatch.setattr("lab.base.named_files.loaded", lambda _group: {})
    (tmp_path / "scenarios").mkdir()
    return tmp_path / "scenarios"


def write(folder: Path, name: str, content: dict[str, Any]) -> Path:
    (folder / f"{name}.yml").write_text(yaml.safe_dump(content))
    return folder / f"{name}.yml"
