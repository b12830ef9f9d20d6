# SPDX-License-Identifier: GPL-2.0-or-later
"""conform.html: a matrix of cases and senders; each cell opens the figure of its case."""

from html import escape
from pathlib import Path
from urllib.parse import quote

import numpy as np

from lab.base.plain_file import write_whole
from lab.figures.save import svg
from lab.figures.style import VERMILION, panels
from lab_conform.findings import Finding, finding
from lab_conform.verdict import Verdict
from lab_conform.view import View

PAGE = "conform.html"
HEIGHT_IN = 4.5
MARKS = {"passed": "✓ passed", "failed": "✗ failed", "not applicable": "not applicable"}
STYLE = (
    "body{font:16px sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222;background:#fff}"
    "td,th{text-align:left;padding:.2em .6em;vertical-align:top}.failed{background:#fbe3d6}.passed{background:#dff2ea}"
    "table{border-collapse:collapse}tr{border-top:1px solid #ddd}"
)


def write_page(folder: Path, found: list[Verdict]) -> None:
    """Write the page, and one page per cell that has a trial."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in found:
        if each.view:
            write_whole(folder / _file(each), _cell_page(each))
    senders = list(dict.fromkeys(each.sender for each in found))
    cells = {(each.case.name, each.sender): each for each in found}
    cases = {each.case.name: each.case for each in found}
    parts = ["<h1>Conformance</h1>", _summary(found, senders)]
    for suite in dict.fromkeys(each.suite for each in cases.values()):
        heads = "".join(f"<th>{escape(each)}" for each in senders)
        rows = [
            f"<tr><td>{escape(case.title)}<br><small>{escape(case.rule)}</small>"
            + "".join(_cell(cells[name, sender]) for sender in senders)
            for name, case in cases.items()
            if case.suite == suite
        ]
        parts.append(f"<h2>{escape(suite)}</h2><table><tr><th>Case{heads}{''.join(rows)}</table>")
    write_whole(folder / PAGE, _html("Conformance", parts))


def figure_path(folder: Path, verdict: Verdict) -> Path | None:
    """Return where the figure of a verdict lies; None where the case does not apply."""
    return folder / _file(verdict) if verdict.view else None


def _summary(found: list[Verdict], senders: list[str]) -> str:
    suites = list(dict.fromkeys(each.case.suite for each in found))
    rows = []
    for suite in suites:
        cells = []
        for sender in senders:
            own = [each.outcome for each in found if (each.case.suite, each.sender) == (suite, sender)]
            applied = len(own) - own.count("not applicable")
            cells.append(f"<td>{own.count('passed')} of {applied}" if applied else "<td>none")
        rows.append(f"<tr><td>{escape(suite)}{''.join(cells)}")
    heads = "".join(f"<th>{escape(each)}" for each in senders)
    return f"<p>Cases that passed, of those that apply.</p><table><tr><th>Suite{heads}{''.join(rows)}</table>"


def _cell(verdict: Verdict) -> str:
    known = _known(verdict)
    text = MARKS[verdict.outcome] + (f" <small>({known.fault})</small>" if known else "")
    kind = verdict.outcome.replace(" ", "-")
    if not verdict.view:
        return f'<td class="{kind}" title="{escape(verdict.reason)}">{text}'
    return f'<td class="{kind}"><a href="{quote(_file(verdict))}" title="{escape(verdict.reason)}">{text}</a>'


def _known(verdict: Verdict) -> Finding | None:
    return finding(verdict.sender, verdict.case.name) if verdict.outcome == "failed" else None


def _file(verdict: Verdict) -> str:
    return f"{verdict.case.suite}-{verdict.case.file.stem}-{verdict.sender}.html"


def _cell_page(verdict: Verdict) -> str:
    assert verdict.view
    case, known = verdict.case, _known(verdict)
    checks = "".join(
        f'<li class="{"passed" if each.passed else "failed"}">{escape(each.line)}' for each in verdict.checked
    )
    parts = [
        f"<h1>{escape(case.title)}</h1>",
        f"<p>{escape(verdict.sender)}: {MARKS[verdict.outcome]}. {escape(verdict.reason)}</p>",
        *([f"<p><b>Known, a fault of the {known.fault}.</b> {escape(known.text)}</p>"] if known else []),
        f"<p>{escape(case.rule)} ({case.keyword}). Dashed lines: events.</p>",
        f"<ul>{checks}</ul>{drawn(verdict.view)}<p><a href={PAGE}>All cases</a></p>",
    ]
    return _html(f"{case.name}, {verdict.sender}", parts)


def drawn(view: View) -> str:
    """Draw window, threshold and round trip of a trial over time."""
    figure, (above, below) = panels(2, HEIGHT_IN)
    above.plot(view.t_s, view.cwnd_pkts, drawstyle="steps-post", label="window")
    finite = np.where(np.isfinite(view.ssthresh_pkts), view.ssthresh_pkts, np.nan)
    above.plot(view.t_s, finite, drawstyle="steps-post", color=VERMILION, label="threshold")
    below.plot(view.t_s, view.srtt_ms)
    for axis in (above, below):
        for t_s in view.events_s:
            axis.axvline(t_s, color="0.4", linestyle="--", linewidth=1)
    above.legend()
    above.set_ylabel("packets")
    below.set_ylabel("smoothed round trip, ms")
    below.set_xlabel("time since the SYN, s")
    return svg(figure)


def _html(title: str, parts: list[str]) -> str:
    head = f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title><style>{STYLE}</style>"
    return "\n".join([head, *parts, "</html>"])
