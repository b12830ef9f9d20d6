# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the whole report of a stored run into its folder, unless it is there already, made from the same."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lab.base.plain_file import write_whole
from lab.base.workers import one_pool
from lab.judge.provenance import levels, mark
from lab.judge.registry import rules
from lab.report import kept, markdown, template, text, trust
from lab.report.answer import Answer, answer_of
from lab.report.browser.pack import browsed
from lab.report.drawn import Drawn, draw, parts_of
from lab.report.report_files import FIGURES, PAGE, TABLES, Basis
from lab.report.table_files import table_files
from lab.tables.csv_text import to_csv
from lab.tables.records import Stanza

Watched = Callable[[Iterable[list[Drawn]], int], Iterable[list[Drawn]]]  # the figures part by part, of so many parts


def write_report(run_dir: Path, forms: Collection[str] = ()) -> list[Path]:
    """Judge every trial, aggregate, draw, and write all forms; an older report is replaced file by file."""
    basis = Basis.of(run_dir, forms)
    with one_pool():
        return write_answered(answer_of(run_dir), basis)


def write_answered(
    answer: Answer,
    basis: Basis,
    watched: Watched = lambda parts, _count: parts,
    printed: dict[str, str] | None = None,
) -> list[Path]:
    """Write the report of an answered run; one that was made from the same before is left as it is.

    basis: read before the run was judged. watched: sees each part when it is drawn. printed: as in kept.keep.
    """
    folder = basis.run_dir
    files = kept.kept(folder, basis.key)
    if files is None:
        parts = parts_of(answer.stored)
        drawn = watched(draw(parts, basis.forms), len(parts))
        files = _write(answer, [each for part in drawn for each in part])
    kept.keep(folder, basis.key, files, printed)
    return files


def _write(answer: Answer, drawn: list[Drawn]) -> list[Path]:
    """Write every file of a report."""
    run_dir, question = answer.run.path, answer.run.scenario["question"]
    contents: dict[str, str | bytes] = {
        PAGE: _page(answer, drawn),
        "summary.csv": to_csv(answer.summary, float_precision=6),
        "outcomes.csv": to_csv(answer.stored.judged.outcomes, float_precision=6),
        "summary.md": markdown.render(question, answer.headline, answer.tables, answer.link),
        "summary.txt": text.render(answer.headline, answer.tables, answer.link),
    }
    for table in answer.tables:
        contents |= {f"{TABLES}/{name}": content for name, content in table_files(table, answer.link).items()}
    for each in drawn:
        contents |= {f"{FIGURES}/{each.name}.{form}": content for form, content in each.contents.items()}
    for folder in (TABLES, FIGURES):
        (run_dir / folder).mkdir(exist_ok=True)
    return [write_whole(run_dir / name, content) for name, content in contents.items()]


def _page(answer: Answer, drawn: list[Drawn]) -> str:
    """Return the page as HTML: styles and figures are inside, nothing is fetched."""
    run, judged, tables = answer.run, answer.stored.judged.outcomes, answer.tables
    meta, name = run.meta, run.path.resolve().parent.name
    page = {
        "run": run.path.resolve().name,
        "scenario": name,
        "meta": meta,
        "headline": answer.headline,
        "overviews": [each.picture for each in drawn if each.cca is None],
        "tables": tables,
        "has_published": any(row.published for table in tables for group in table.groups for row in group.rows),
        "senders": [_sender(stanza, drawn) for stanza in run.ccas],
        "checks": trust.checks(run.trials),
        "invalid": answer.invalid,
        "losses": trust.losses(judged),
        "trials": len(run.trials),
        "browsed": browsed([(run, judged, name)]),
    }
    facts = list(_facts({key: value for key, value in meta.items() if key not in ("ccas", "profile")}))
    link = {"levels": list(levels(meta["profile"])), "mark": mark(meta["profile"])}
    return template.render(
        "page.html.j2", page=page, facts=facts, link=link, scenario=meta["scenario"], rules=rules().values()
    )


def _sender(stanza: Stanza, drawn: list[Drawn]) -> dict[str, object]:
    """Return a sender's part: its representative trial, if one is valid, and that trial's figures."""
    own = [each for each in drawn if each.cca == stanza["name"]]
    about = {"label": stanza["label"], "colour": stanza["colour"], "pictures": [each.picture for each in own]}
    return {**about, "trial": next((each.trial for each in own), None)}


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
