# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of one cell: the checks of a case on a sender, and the window, threshold and round trip of its trial."""

import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, TypeAdapter

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
    case, known = verdict.case, known_of(verdict)
    checks = "".join(
        f'<li class="{"passed" if each.passed else "failed"}">{escape(each.line)}' for each in verdict.checked
    )
    parts = [
        f"<h1>{escape(case.title)}</h1>",
        f"<p>{escape(verdict.sender)}: {MARKS[verdict.outcome]}: {escape(verdict.reason)}</p>",
        *([f"<p><b>Known, a fault of the {known.fault}.</b> {marked(known)}</p>"] if known else []),
        f"<p>{escape(case.rule)} ({case.keyword}). Dashed lines: events.</p>",
        f"<ul>{checks}</ul><div class=plate>{drawn(verdict.view)}</div><p><a href={PAGE}>All cases</a></p>",
    ]
    return html(f"{case.name}, {verdict.sender}", parts)


def known_of(verdict: Verdict) -> Finding | None:
    """Return what is known of a failure."""
    return finding(verdict.sender, verdict.case.name) if verdict.outcome == "failed" else None


def marked(known: Finding) -> str:
    """Return what is known as HTML: what stands between backticks is code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(known.text))


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
