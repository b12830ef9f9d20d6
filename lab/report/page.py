# SPDX-License-Identifier: GPL-2.0-or-later
"""The report as one HTML page: styles and figures are inside, nothing is fetched."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.judge.provenance import levels, mark
from lab.judge.registry import rules
from lab.report import template
from lab.report.browser.pack import Browsed
from lab.report.table import Table
from lab.report.template import Picture
from lab.report.trust import CheckSummary, InvalidTrial


@dataclass(frozen=True)
class SenderPart:
    """A sender's part of the page: its representative trial (null: no valid one) and that trial's figures."""

    label: str
    colour: str
    trial: int | None
    pictures: Sequence[Picture]


@dataclass(frozen=True)
class Page:
    """All that the page shows."""

    run: str
    scenario: str
    meta: Mapping[str, Any]
    headline: Sequence[str]
    overviews: Sequence[Picture]
    tables: Sequence[Table]
    senders: Sequence[SenderPart]
    checks: Sequence[CheckSummary]
    invalid: Sequence[InvalidTrial]
    digests: str
    losses: str
    trials: int
    browsed: Browsed

    @property
    def has_published(self) -> bool:
        """Return whether a table has rows of a paper."""
        return any(row.published for table in self.tables for group in table.groups for row in group.rows)


def render(page: Page) -> str:
    """Return the page as HTML."""
    facts = list(_facts({key: value for key, value in page.meta.items() if key not in ("ccas", "profile")}))
    profile = page.meta["profile"]
    link = {"levels": list(levels(profile)), "mark": mark(profile)}
    return template.render(
        "page.html.j2", page=page, facts=facts, link=link, scenario=page.meta["scenario"], rules=rules().values()
    )


def _facts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Everything that run.json records, one dotted name and value a line."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _facts(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and any(isinstance(inner, (Mapping, list)) for inner in value):
        for number, inner in enumerate(value):
            yield from _facts(inner, f"{name}[{number}]")
    else:
        yield name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)
