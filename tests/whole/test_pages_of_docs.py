# SPDX-License-Identifier: GPL-2.0-or-later
"""Generated pages follow the code, the command has one name, and stated times are those that were measured."""

import importlib
import json
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import polars as pl
import pytest
from typer.core import TyperGroup
from typer.main import get_command

from bench.measured import PUBLISHED
from lab import __version__
from lab.base.paths import REPO
from lab.commands.cli import Grouped, app
from lab.runs import estimate
from lab.runs.estimate import MEASURED, about, minutes

FOLDERS = ("docs", "trace-profiles", "topologies", "lab", "ansible", "analysis", "packages")
# What is no link of a page: code, and the figures of a report that a student draws.
CODE = re.compile(r"```.*?```|`[^`\n]*`|!\[[^]]*\]\([^)/]*\.svg\)", re.DOTALL)


def _generator(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(REPO / "docs"))
    return importlib.import_module(f"generate.{name}")


def test_the_generated_pages_and_the_table_of_the_rooms_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    contracts = tomllib.loads((REPO / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [room for room in contracts[0]["layers"] if not room.startswith("_")]
    text = (REPO / "docs" / "architecture.md").read_text().partition("| room | holds |")[2].partition("\n\n")[0]
    folders = {file.parent.name for file in (REPO / "lab").glob("*/__init__.py")}
    assert re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE) == layers
    assert folders == set(layers)
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


def test_each_command_is_in_the_reference_with_its_options_and_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    page = _generator("commands", monkeypatch).page()
    group = get_command(app)
    assert isinstance(group, Grouped)
    names = set(group.commands)
    assert {name for name in names if f"## `lab {name}`\n" not in page} == {"cca"}  # older name of senders
    assert "same" in names
    assert "* `--resume`: Continue the last unfinished run." in page
    assert [line for line in page.splitlines() if re.fullmatch(r"\* `.*\.\.\.", line)] == []


def test_measurements_are_shown_with_commit_command_and_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    page = _generator("measurements", monkeypatch).page()
    for file in PUBLISHED.glob("*.json"):
        stored = json.loads(file.read_text())
        assert f"`{stored['command']}`, commit `{stored['commit']}`" in page
        assert f"[{file.name}](measurements/{file.name})" in page


def test_the_page_of_both_shapers_shows_each_measured_link(monkeypatch: pytest.MonkeyPatch) -> None:
    page = _generator("places", monkeypatch).page((REPO / "docs" / "shapers.md").read_text())
    stored = json.loads((PUBLISHED / "shapers.json").read_text())
    subjects = {figure["name"].split(": ")[0] for figure in stored["figures"]}
    assert {subject for subject in subjects if page.count(f"| {subject} |") != 2} == set()
    assert "<!-- measured" not in page


ENTRY = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]["scripts"]["lab"]
MODULE, FUNCTION = ENTRY.split(":")
OF_THE_ENVIRONMENT = f"import sys; sys.argv[0] = '/some/.venv/bin/lab'; from {MODULE} import {FUNCTION}; {FUNCTION}()"


@pytest.mark.parametrize(
    "start",
    [[REPO / "scripts" / "lab"], [sys.executable, "-m", "lab"], [sys.executable, "-c", OF_THE_ENVIRONMENT]],
    ids=["scripts/lab", "python -m lab", "the environment's lab"],
)
def test_help_names_the_command_lab(start: list[str]) -> None:
    done = subprocess.run([*start, "verify", "--help"], cwd=REPO, capture_output=True, text=True, check=True)
    assert "Usage: lab verify [OPTIONS]" in done.stdout
    assert "python -m" not in done.stdout


def test_the_pages_name_it_lab_and_the_version_stands_beside_the_commit() -> None:
    pages = [REPO / "README.md", *sorted((REPO / "docs").rglob("*.md"))]
    naming = [page.relative_to(REPO).as_posix() for page in pages if "scripts/lab" in page.read_text()]
    assert naming == ["docs/index.md"]
    assert [page for page in pages if "python -m lab " in page.read_text()] == []
    done = subprocess.run([REPO / "scripts" / "lab", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"search-lab {__version__}, commit ")
    assert f"\nversion: {__version__}\n" in (REPO / "CITATION.cff").read_text()
    assert f"## {__version__}" in (REPO / "CHANGELOG.md").read_text()


def test_help_shows_at_most_25_commands_in_groups_those_of_packages_too() -> None:
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    shown = {name: vars(each)["rich_help_panel"] for name, each in group.commands.items() if not each.hidden}
    assert len(shown) <= 25
    assert shown["run"] == "Run and look"
    assert shown["grade"] == shown["course"] == "Teach"


@pytest.mark.parametrize("listing", ["list senders", "senders list", "figure", "course list"])
def test_a_list_fits_into_a_terminal_of_80_columns_and_has_whole_lines_elsewhere(listing: str) -> None:
    start, plain = [sys.executable, "-m", "lab", *listing.split()], {**os.environ, "COLUMNS": "80"}
    shown, redirected = (
        subprocess.run(start, cwd=REPO, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()
        for environment in (plain | {"FORCE_COLOR": "1"}, plain)  # rich takes the first for a terminal
    )
    assert max(map(len, shown)) <= 80
    assert len(redirected) <= len(shown)
    assert " ".join(redirected).split() == " ".join(shown).split()


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


def test_the_figure_of_ones_own_draws_each_valid_trial_once() -> None:
    text = (REPO / "docs" / "paper.md").read_text()
    code = textwrap.dedent(text[text.index("    from lab.figures.page_figure") :])
    own: dict[str, Any] = {}
    exec(code, own)  # noqa: S102 (the page's own lines)
    outcomes = pl.DataFrame(
        [(rule, valid, 1.0) for rule in ("truth", "lasting", "latency_offset") for valid in (True, True, False)],
        schema=["heuristic", "valid", "exit_s"],
        orient="row",
    )
    drawing = own["FIGURE"].draw(SimpleNamespace(judged=SimpleNamespace(outcomes=outcomes)))
    assert sum(bar.get_height() for bar in drawing.figure.axes[0].patches) == 2
