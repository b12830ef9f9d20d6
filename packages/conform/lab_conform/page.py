# SPDX-License-Identifier: GPL-2.0-or-later
"""conform.html: how many cases each sender passed, what failed, and a matrix of cases and senders per suite."""

import re
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote

import numpy as np
from pydantic import Field, TypeAdapter

from lab.base.plain_file import write_whole
from lab.figures.save import svg
from lab.figures.style import VERMILION, panels
from lab.report.dark import css
from lab.schema.load import Strict, read_yaml
from lab_conform.case import Text
from lab_conform.verdict import Verdict
from lab_conform.view import View

FILE = Path(__file__).parent / "findings.yml"
Names = Annotated[list[str], Field(min_length=1)]
PAGE = "conform.html"
HEIGHT_IN = 4.5
MARKS = {"passed": "✓ passed", "failed": "✗ failed", "not applicable": "not applicable"}
STYLE = (
    ":root{color-scheme:light dark}body{font:16px sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
    "td,th{text-align:left;padding:.2em .6em;vertical-align:top}.failed{background:#fbe3d6}.passed{background:#dff2ea}"
    "table{border-collapse:collapse}tr{border-top:1px solid #8886}.wide,.plate{overflow-x:auto}small{opacity:.8}"
    "td+td{white-space:nowrap}"
    "@media(prefers-color-scheme:dark){.failed{background:#5a2c14}.passed{background:#123f30}}"
)
Rows = dict[str, dict[str, Verdict]]  # by case, then by sender


class Finding(Strict):
    """One cause, and the cells of the matrix that it explains."""

    senders: Names
    cases: Names
    fault: Literal["sender", "draft"]  # those of cases and of the lab are corrected
    text: Text


@cache
def findings() -> list[Finding]:
    """Return all findings, in the order of the file."""
    return TypeAdapter(list[Finding]).validate_python(read_yaml(FILE))


def finding(sender: str, case: str) -> Finding | None:
    """Return what is known of a case that fails on a sender; None where nobody has looked."""
    return next((each for each in findings() if sender in each.senders and case in each.cases), None)


def file_of(verdict: Verdict) -> str:
    """Return the name of a cell's page."""
    return f"{verdict.case.suite}-{verdict.case.file.stem}-{verdict.sender}.html"


def cell_page(verdict: Verdict) -> str:
    """Write the page of a verdict that has a trial."""
    assert verdict.view
    case, known = verdict.case, explained(verdict)
    checks = "".join(
        f'<li class="{"passed" if each.passed else "failed"}">{escape(each.line)}' for each in verdict.checked
    )
    parts = [
        f"<h1>{escape(case.title)}</h1>",
        f"<p>{escape(verdict.sender)}: {MARKS[verdict.outcome]}: {escape(verdict.reason)}</p>",
        *([f"<p>{marked(known)}</p>"] if known else []),
        f"<p>{escape(case.rule)} ({case.keyword}). Dashed lines: events.</p>",
        f"<ul>{checks}</ul><div class=plate>{drawn(verdict.view)}</div><p><a href={PAGE}>All cases</a></p>",
    ]
    return html(f"{case.name}, {verdict.sender}", parts)


def known_of(verdict: Verdict) -> Finding | None:
    """Return what is known of a failure."""
    return finding(verdict.sender, verdict.case.name) if verdict.outcome == "failed" else None


def explained(verdict: Verdict) -> str:
    """Return why a case fails, or which of the lab's senders fail it, too; empty where nothing is known."""
    if known := known_of(verdict):
        return f"known, {known.fault}: {known.text}"
    cases = {verdict.case.name} if verdict.outcome == "failed" else set()
    others = [name for each in findings() if cases.intersection(each.cases) for name in each.senders]
    return f"failed by {', '.join(others)}, too: docs/conform-senders.md has why" if others else ""


def marked(known: str) -> str:
    """Return what is known as HTML: what stands between backticks is code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(known))


def drawn(view: View) -> str:
    """Draw window, threshold and round trip of a trial over time."""
    figure, (above, below) = panels(2, HEIGHT_IN)
    above.plot(view.t_s, view.cwnd_pkts, drawstyle="steps-post", label="window")
    finite = np.where(np.isfinite(view.ssthresh_pkts), view.ssthresh_pkts, np.nan)
    above.plot(view.t_s, finite, drawstyle="steps-post", color=VERMILION, linestyle=":", label="threshold")
    below.plot(view.t_s, view.srtt_ms)
    for axis in (above, below):
        for t_s in view.events_s:
            axis.axvline(t_s, color="0.4", linestyle="--", linewidth=1)
    above.legend()
    above.set_ylabel("packets")
    below.set_ylabel("smoothed round trip, ms")
    below.set_xlabel("time since the SYN, s")
    return svg(figure)


def html(title: str, parts: list[str]) -> str:
    """Return a whole document."""
    head = (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>{escape(title)}</title><style>{STYLE}{css()}</style>"
    )
    return "\n".join([head, *parts, "</html>"])


def write_page(folder: Path, found: list[Verdict]) -> None:
    """Write the page, and one page per cell that has a trial."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in found:
        if each.view:
            write_whole(folder / file_of(each), cell_page(each))
    senders = list(dict.fromkeys(each.sender for each in found))
    parts = ["<h1>Conformance</h1>", *_answers(found, senders), _summary(found, senders), _failures(found)]
    for suite in dict.fromkeys(each.case.suite for each in found):
        parts += _matrix(suite, [each for each in found if each.case.suite == suite], senders)
    write_whole(folder / PAGE, html("Conformance", parts))


def figure_path(folder: Path, verdict: Verdict) -> Path | None:
    """Return where the figure of a verdict lies; None where the case does not apply."""
    return folder / file_of(verdict) if verdict.view else None


def _answers(found: list[Verdict], senders: list[str]) -> Iterator[str]:
    for sender in senders:
        own = [each for each in found if each.sender == sender]
        applied = [each for each in own if each.outcome != "not applicable"]
        failed = [each for each in applied if each.outcome == "failed"]
        known = sum(1 for each in failed if known_of(each))
        text = f"{len(applied) - len(failed)} of {len(applied)} cases that apply passed"
        yield f"<p><b>{escape(sender)}</b>: {text}, {len(failed)} failed{f', {known} of them known' if known else ''}."


def _summary(found: list[Verdict], senders: list[str]) -> str:
    rows = []
    for suite in dict.fromkeys(each.case.suite for each in found):
        cells = []
        for sender in senders:
            own = [each.outcome for each in found if (each.case.suite, each.sender) == (suite, sender)]
            applied = len(own) - own.count("not applicable")
            kind = "failed" if "failed" in own else "passed"
            cells.append(f'<td class="{kind}">{own.count("passed")} of {applied}' if applied else "<td>-")
        rows.append(f'<tr><td><a href="#{quote(suite)}">{escape(suite)}</a>{"".join(cells)}')
    return f"<p>Cases that passed, of those that apply:</p>{_table('Suite', senders, rows)}"


def _failures(found: list[Verdict]) -> str:
    """Return a list of what failed, with the senders of one case and one reason together."""
    alike: dict[tuple[str, str], list[Verdict]] = {}
    for each in found:
        if each.outcome == "failed":
            alike.setdefault((each.case.title, _why(each)), []).append(each)
    items = [
        f"<li>{escape(title)}: {', '.join(_link(each, escape(each.sender)) for each in some)}<br><small>{why}</small>"
        for (title, why), some in alike.items()
    ]
    return f"<h2>What failed</h2><ul>{''.join(items)}</ul>" if items else ""


def _why(verdict: Verdict) -> str:
    known = marked(explained(verdict))
    return known if known_of(verdict) else "<br>".join(filter(None, (escape(verdict.reason), known)))


def _matrix(suite: str, found: list[Verdict], senders: list[str]) -> Iterator[str]:
    """Yield the table of a suite; cases that apply to no sender here are counted only."""
    rows: Rows = {}
    for each in found:
        rows.setdefault(each.case.name, {})[each.sender] = each
    shown = [row for row in rows.values() if any(each.outcome != "not applicable" for each in row.values())]
    yield f"<h2 id={quote(suite)}>{escape(suite)}</h2>"
    if shown:
        yield _table("Case", senders, [_row(row, senders) for row in shown])
    if left := len(rows) - len(shown):
        yield f"<p>{left} of {len(rows)} cases apply to no sender here: {escape(_reasons(rows, shown))}."


def _reasons(rows: Rows, shown: list[dict[str, Verdict]]) -> str:
    return "; ".join(dict.fromkeys(each.reason for row in rows.values() if row not in shown for each in row.values()))


def _row(row: dict[str, Verdict], senders: list[str]) -> str:
    case = row[senders[0]].case
    cells = "".join(_cell(row[sender]) for sender in senders)
    return f"<tr><td>{escape(case.title)}<br><small>{escape(case.rule)}</small>{cells}"


def _cell(verdict: Verdict) -> str:
    known = known_of(verdict)
    text = MARKS[verdict.outcome] + (f" <small>({known.fault})</small>" if known else "")
    if verdict.outcome == "not applicable":
        return f'<td title="{escape(verdict.reason)}">-'
    return f'<td class="{verdict.outcome}">{_link(verdict, text)}'


def _link(verdict: Verdict, text: str) -> str:
    """Return text that leads to the page of a cell, where it has one."""
    target = f' href="{quote(file_of(verdict))}"' if verdict.view else ""
    return f'<a{target} title="{escape(verdict.reason)}">{text}</a>'


def _table(first: str, senders: list[str], rows: list[str]) -> str:
    heads = "".join(f"<th>{escape(each)}" for each in senders)
    return f"<div class=wide><table><tr><th>{first}{heads}{''.join(rows)}</table></div>"
