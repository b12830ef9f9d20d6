# SPDX-License-Identifier: GPL-2.0-or-later
"""The report as one HTML page: styles and figures are inside, nothing is fetched."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lab.judge.provenance import levels, mark
from lab.judge.registry import rules
from lab.report import template
from lab.report.table import Table


def render(meta: Mapping[str, Any], tables: Sequence[Table], **shown: Any) -> str:
    """Return the page as HTML: of run.json, the tables, and whatever else its template names."""
    facts = list(_facts({key: value for key, value in meta.items() if key not in ("ccas", "profile")}))
    link = {"levels": list(levels(meta["profile"])), "mark": mark(meta["profile"])}
    published = any(row.published for table in tables for group in table.groups for row in group.rows)
    page = {"meta": meta, "tables": tables, "has_published": published, **shown}
    return template.render(
        "page.html.j2", page=page, facts=facts, link=link, scenario=meta["scenario"], rules=rules().values()
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
