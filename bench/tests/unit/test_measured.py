# SPDX-License-Identifier: GPL-2.0-or-later
"""A measurement is published from a commit without changes, one figure per line."""

import json
from pathlib import Path

import pytest

from bench import measured
from lab.base.errors import UserError

FIGURES: list[measured.Figure] = [{"name": "a", "value": 1, "unit": "s"}, {"name": "b", "value": None, "unit": ""}]


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    monkeypatch.setattr(measured, "PUBLISHED", tmp_path)
    return tmp_path / "speed.json"


def test_a_measurement_of_a_commit_is_published_with_a_line_per_figure(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "commit", lambda: "0123456789ab")
    stored = measured.store("speed", "make bench", FIGURES)
    measured.publish(["speed"])
    assert json.loads(published.read_text()) == json.loads(stored.read_text())
    assert '  {"name": "a", "value": 1, "unit": "s"},\n' in published.read_text()


@pytest.mark.parametrize("commit", ["0123456789ab-dirty", None])
def test_a_measurement_of_a_changed_tree_is_not_published(
    published: Path, monkeypatch: pytest.MonkeyPatch, commit: str | None
) -> None:
    monkeypatch.setattr(measured, "commit", lambda: commit)
    measured.store("speed", "make bench", FIGURES)
    with pytest.raises(UserError, match=rf"speed\.json: commit={commit}: must be a commit without changes"):
        measured.publish(["speed"])
    assert not published.exists()


def test_a_benchmark_stores_commit_machine_and_units(published: Path) -> None:
    figures: list[measured.Figure] = [{"name": "one", "value": 1.5, "unit": "s", "target": "at most 2"}]
    stored = json.loads(measured.store("mine", "make bench-mine", figures).read_text())
    assert published
    assert stored["figures"] == figures
    assert stored["machine"]["cores"] >= 1
    assert {"commit", "measured_at", "command"} <= set(stored)


def test_a_figure_is_printed_beside_its_target_and_what_was_published(
    published: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measured, "commit", lambda: "0123456789ab")
    measured.store("speed", "make bench", [{"name": "a", "value": 2, "unit": "s"}])
    measured.publish(["speed"])
    assert capsys.readouterr().out.endswith("answers.yml: speed: does its answer still hold?\n")
    assert published.is_file()
    slower: measured.Figure = {"name": "a", "value": 3, "unit": "s", "target": "1"}
    measured.show_and_store("speed", "make bench", [slower, FIGURES[1]])
    assert capsys.readouterr().out.splitlines()[:2] == ["a: 3 s (target: 1, published: 2, ratio: 1.50)", "b: None "]
