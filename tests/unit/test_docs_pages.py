# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of the documentation that are generated: they follow the code, the contract and the measurements."""

import importlib
import json
import re
from types import ModuleType

import pytest
from typer.main import get_command

from bench.measured import PUBLISHED
from lab.base.paths import REPO
from lab.commands.cli import Grouped, app

FOLDERS = ("docs", "trace-profiles", "topologies", "lab", "ansible", "analysis", "packages")
# What is no link of a page: code, and the figures of a report that a student draws.
CODE = re.compile(r"```.*?```|`[^`\n]*`|!\[[^]]*\]\([^)/]*\.svg\)", re.DOTALL)


def _generator(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(REPO / "docs"))
    return importlib.import_module(f"generate.{name}")


def test_the_generated_pages_and_the_figure_of_the_rooms_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = _generator("rooms", monkeypatch)
    assert rooms.FIGURE.read_text() == rooms.figure()
    rooms = _generator("rooms", monkeypatch)
    folders = {file.parent.name for file in (REPO / "lab").glob("*/__init__.py")}
    assert folders == set(rooms.layers()) == set(rooms.ROOMS)
    assert list(_generator("pages", monkeypatch).outdated()) == [], "run 'scripts/docs pages'"


def test_every_link_of_a_page_read_as_markdown_leads_to_a_file() -> None:
    pages = [REPO / "README.md", *(page for folder in FOLDERS for page in (REPO / folder).rglob("*.md"))]
    dead = [
        f"{page.relative_to(REPO)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", CODE.sub("", page.read_text()))
        if not re.match("[a-z]+:", target) and not (page.parent / target).exists()
    ]
    assert dead == []


def test_every_command_is_in_the_reference_with_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    page = _generator("commands", monkeypatch).page()
    group = get_command(app)
    assert isinstance(group, Grouped)
    names = set(group.commands)
    assert {name for name in names if f"## `lab {name}`\n" not in page} == set()
    assert "same" in names
    assert "* `--resume`: Continue the last unfinished run." in page


def test_measurements_are_shown_with_commit_command_and_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    page = _generator("measurements", monkeypatch).page()
    for file in PUBLISHED.glob("*.json"):
        stored = json.loads(file.read_text())
        assert f"`{stored['command']}`, commit `{stored['commit']}`" in page


def test_the_page_of_both_shapers_shows_each_measured_link(monkeypatch: pytest.MonkeyPatch) -> None:
    shapers = _generator("shapers", monkeypatch)
    page = shapers.page((REPO / "docs" / "shapers.md").read_text())
    stored = json.loads((PUBLISHED / "shapers.json").read_text())
    subjects = {figure["name"].split(": ")[0] for figure in stored["figures"]}
    assert {subject for subject in subjects if page.count(f"| {subject} |") != 2} == set()
    assert shapers.PLACE not in page
