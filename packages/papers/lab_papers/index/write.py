# SPDX-License-Identifier: GPL-2.0-or-later
"""Make results/index.html: each scenario's own page where it is out of date, the notebooks, then the page of all."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from lab_compare.record import FOLDER as COMPARISONS
from lab_compare.report.write import PAGE as COMPARED

from lab.base.errors import UserError, one_line
from lab.base.plain_file import write_whole
from lab.base.workers import map_in_processes
from lab.figures.page_figure import Place
from lab.judge.judged import OUTCOMES, TRIALS
from lab.judge.stored import Stored
from lab.report.browser.pack import browsed
from lab.report.template import Picture, picture, render
from lab.report.write import write_report
from lab_papers.campaign import outdated, progress, requested_trials
from lab_papers.evaluation.kept import FOLDER as EVALUATION
from lab_papers.evaluation.kept import evaluation
from lab_papers.fullest import Fullest, fullest
from lab_papers.index import claims, heuristics, summary
from lab_papers.index.drawn import drawn
from lab_papers.index.links import browsed_runs, linked, shown_first
from lab_papers.index.manifest import Artefact
from lab_papers.index.notebooks import FOLDER, NOTEBOOKS, Executed, execute_all
from lab_papers.index.recorded import recorded
from lab_papers.index.sentences import in_order, sentences
from lab_papers.index.unchanged import PAGE, keep, page_key

Part = dict[str, Any]  # of the page, as its template names it
RUN_FILES = ("summary.csv", "outcomes.csv", OUTCOMES, TRIALS)


class Fault(NamedTuple):
    """Why a run's own page is not there, in one line, and whether the run is left out of the page of all."""

    folder: Path
    line: str
    left_out: bool


def write_index(
    results: Path,
    replay_library: Path | None,
    notebooks: Path = NOTEBOOKS,
    failed: Callable[[str], object] = lambda _line: None,
    known: Fullest | None = None,
) -> Path:
    """Make the page from what is stored; missing parts are shown as pending, and unreadable files as faults.

    failed: receives a line for each notebook that failed. known: the runs, where they have been read.
    """
    results = results.resolve()
    results.mkdir(parents=True, exist_ok=True)
    key = page_key(results, replay_library, notebooks)
    text, chapters = _made(results, known or fullest(results), lambda: execute_all(results, replay_library, notebooks))
    page = write_whole(results / PAGE, text)
    faulty = [f"{results / each['notebook']}: {each['fault']}" for each in chapters if each["fault"]]
    for line in faulty:
        failed(line)
    if not faulty:  # a notebook with a fault is executed again
        keep(results, key)
    return page


def _made(results: Path, known: Fullest, execute: Callable[[], list[Executed]]) -> tuple[str, list[Part]]:
    """Return the page, and the chapters of the notebooks, which are executed once each run has its own page."""
    found, faults, newer = known
    with_pages, not_shown = _with_own_pages(found)
    faults = [*faults, *not_shown]
    runs, overviews = _overviews(results, with_pages, faults)
    tables = {name: _evaluated(results, name, faults) for name in ("claims", "status")}
    chapters = [chapter(results, each) for each in execute()]
    links = summary.one_a_link(runs)
    first = in_order(linked(summary.in_summary(runs), _page))
    text = page_of(
        progress=progress(runs, requested_trials()),
        sentences=sentences(first),
        matrix=first,
        overviews=overviews,
        summary=summary.table(links) if links else None,
        scenarios=_scenarios(results, runs, tables["status"]),
        chapters=chapters,
        claims=claims.shown(tables["claims"]),
        recorded=recorded(results, faults),
        heuristics=_heuristics(results, runs, faults),
        browsed=browsed((each.run, shown_first(each.judged.outcomes), each.name) for each in browsed_runs(links)),
        faults=list(dict.fromkeys([*faults, *(fault for each in runs for fault in each.judged.faults)])),
        notes=[*newer, *outdated(results, runs)],
        trials=sum(each.judged.trials.height for each in runs),
        valid=sum(int(each.judged.trials["valid"].sum()) for each in runs),
        downloads=_downloads(results),
        until=max((each.run.path.name for each in runs), default="").split("T")[0],
    )
    return text, chapters


def page_of(**index: object) -> str:
    """Return the page as HTML, of all that its template names; nothing is fetched."""
    return render("index.html.j2", Path(__file__).parent, index=index)


def _with_own_pages(runs: Sequence[Stored]) -> tuple[list[Stored], list[str]]:
    """Write the pages of runs that changed since; return the runs that can be shown, and a line for each fault."""
    old = [each for each in runs if _is_old(each.run.path)]
    faults = [fault for fault in map_in_processes(_report, old, size=lambda one: one.judged.trials.height) if fault]
    left_out = {fault.folder for fault in faults if fault.left_out}
    return [each for each in runs if each.run.path not in left_out], [fault.line for fault in faults]


def _report(one: Stored) -> Fault | None:
    folder = one.run.path
    try:
        write_report(folder)
    except UserError as error:
        return Fault(folder, str(error), left_out=False)
    except Exception as error:  # what a stranger stored passes every check and cannot be drawn: it costs no other run
        return Fault(folder, _left_out(folder, error), left_out=True)
    return None


def _left_out(folder: Path, error: Exception) -> str:
    return one_line(f"{folder}: left out, it cannot be shown: {error!r}")


def _overviews(results: Path, runs: list[Stored], faults: list[str]) -> tuple[list[Stored], list[Picture]]:
    """Draw the figures of all links; a run with a fresh page of its own that still cannot be drawn is left out."""
    links = summary.one_a_link(runs)
    try:
        return runs, drawn(results, Place.SUMMARY, links) if links else []
    except Exception as error:
        if len(runs) == 1:
            faults.append(_left_out(runs[0].run.path, error))
            return [], []
        whole = [each for each in runs if _overviews(results, [each], faults)[0]]
        if len(whole) == len(runs):
            raise
        return _overviews(results, whole, faults)


def _is_old(folder: Path) -> bool:
    page = folder / "report.html"
    made_from = [folder / OUTCOMES, folder / "run.json"]
    return not page.exists() or any(file.exists() and file.stat().st_mtime > page.stat().st_mtime for file in made_from)


def _evaluated(results: Path, name: str, faults: list[str]) -> pl.DataFrame | None:
    """Return a table of the evaluation; a table that is not whole adds a line to the faults."""
    try:
        return evaluation(results, name)
    except UserError as error:
        faults.append(str(error))
        return None


def _page(each: Stored) -> str:
    return f"{each.name}/{each.run.path.resolve().name}/report.html"


def _scenarios(results: Path, runs: Sequence[Stored], status: pl.DataFrame | None) -> list[Part]:
    """Every scenario that the evaluation knows, and every other that has been run."""
    by_name = {each.name: each for each in runs}
    known = {} if status is None else {row["scenario"]: row for row in status.iter_rows(named=True)}
    parts = []
    for name in dict.fromkeys((*known, *by_name)):
        each, row = by_name.get(name), known.get(name, {})
        question = str(each.run.scenario["question"]) if each else str(row.get("question") or "")
        base = each.counterfactual_of if each else row.get("counterfactual_of")
        part = {"name": name, "question": question, "state": _state(each, row), "base": base}
        own = {"page": _page(each) if each else None, "files": _files(results, each) if each else []}
        parts.append({**part, **own, "changes": row.get("changes") or ""})
    return parts


def _state(each: Stored | None, row: dict[str, object]) -> str:
    if each is None:
        return str(row.get("state") or "pending")
    trials = each.judged.trials
    note = f"; {row['note']}" if row.get("note") else ""
    return f"{int(trials['valid'].sum())} of {trials.height} trials valid{note}"


def _files(results: Path, each: Stored) -> list[tuple[str, str]]:
    paths = [Path(_page(each)).parent / file for file in RUN_FILES]
    return [(path.name, path.as_posix()) for path in paths if (results / path).exists()]


def _heuristics(results: Path, runs: Sequence[Stored], faults: list[str]) -> bool:
    try:
        return heuristics.write(results, _titles(runs))
    except UserError as error:
        faults.append(str(error))
        return False


def _titles(runs: Sequence[Stored]) -> dict[str, str]:
    """Return each scenario's link as a title, with its own name where others have the same link."""
    left_out = {each.name for each in runs if not each.run.in_summary or each.counterfactual_of}
    shown = [each for each in runs if each.name not in left_out]
    count = Counter(each.link for each in shown)
    return {each.name: each.link if count[each.link] == 1 else f"{each.link} ({each.name})" for each in shown}


def _downloads(results: Path) -> list[tuple[str, str]]:
    made: Iterable[Path] = [*sorted(results.glob("summary.*")), *sorted((results / EVALUATION).glob("[!.]*.[cp]*"))]
    files = [(path.name, path.relative_to(results).as_posix()) for path in made]
    compared = sorted(results.glob(f"{COMPARISONS}/[0-9]*/{COMPARED}"), reverse=True)
    return [*files, *((f"comparison of {page.parent.name}", page.relative_to(results).as_posix()) for page in compared)]


def chapter(results: Path, done: Executed) -> Part:
    """Return a notebook's figures with their SVG inline, its tables, and what is pending or left out."""
    folder = Path(FOLDER) / done.name
    return {
        "name": f"chapter-{done.name}",  # an element's name may not begin with a digit
        "title": done.title,
        "notebook": (folder / f"{done.name}.ipynb").as_posix(),
        "parts": [_part(results, folder, artefact) for artefact in done.artefacts],
        "needs": [f"{what}: {', else '.join(names)}" for what, names in done.scenarios.items()],
        "fault": done.fault,
    }


def _part(results: Path, folder: Path, artefact: Artefact) -> Part:
    files = [(Path(name).suffix[1:].upper(), (folder / name).as_posix()) for name in artefact.files]
    inline = None
    if artefact.kind == "figure":
        vector = (results / folder / f"{artefact.name}.svg").read_text(encoding="utf-8")
        inline = picture(artefact.name, vector, artefact.alt, artefact.caption)
    about = {"kind": artefact.kind, "source": artefact.source, "why": artefact.why}
    return {**about, "picture": inline, "table": artefact.table, "files": files}
