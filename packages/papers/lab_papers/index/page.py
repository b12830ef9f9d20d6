# SPDX-License-Identifier: GPL-2.0-or-later
"""results/index.html as plain data, and from data to HTML; nothing is fetched."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.report import template
from lab.report.table import Table
from lab.report.template import Picture


@dataclass(frozen=True)
class ScenarioPart:
    """A scenario: its question, how far it is, and its files, as paths from the page."""

    name: str
    question: str
    state: str
    page: str | None
    files: Sequence[tuple[str, str]]  # name, path
    base: str | None = None  # of a counterfactual: the scenario that it repeats
    changes: str = ""  # of a counterfactual: what it changes


@dataclass(frozen=True)
class Item:
    """A figure or table of a paper, or why there is none."""

    kind: str
    source: str
    picture: Picture | None = None
    table: Table | None = None
    why: str = ""
    files: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Chapter:
    """The artefacts of one notebook."""

    name: str
    title: str
    notebook: str
    items: Sequence[Item]
    needs: Sequence[str]  # the scenarios that the notebook declares
    fault: str | None


def render(**index: object) -> str:
    """Return the page as HTML, of all that its template names."""
    return template.render("index.html.j2", Path(__file__).parent, index=index)
