# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab conform`: from senders and cases to verdicts, files and a page."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import typer
from lab_compare.comparison import known_senders
from lab_try.command import TryRequest, own_senders_of
from lab_try.expect import require_writable
from rich.console import Console

from lab.base import paths
from lab.base.errors import field_error
from lab.base.plain_file import write_whole
from lab.base.plain_text import escaped_lines
from lab.commands.known import require_senders
from lab.commands.lines import say, show_path
from lab.commands.prepare import prepare
from lab.kernel.recipe import Recipe
from lab.schema.cca import cca_names
from lab_conform.case import Case, chosen
from lab_conform.page import PAGE, explained, write_page
from lab_conform.run import NAME, Bench, failed, verdicts
from lab_conform.subject import subject
from lab_conform.verdict import Verdict

SOURCES = (".c",)


@dataclass(frozen=True)
class Request:
    """What the command line holds."""

    sender: str
    suite: str | None = None
    case: str | None = None
    junit: Path | None = None
    json: Path | None = None
    out: Path | None = None
    workers: int = 1

    @property
    def names(self) -> list[str]:
        return [name.strip() for name in self.sender.split(",") if name.strip()]

    @property
    def own(self) -> list[str]:
        """Return those that are sources; a known sender's name is none, also where a folder here has it."""
        return [
            name
            for name in self.names
            if Path(name).suffix in SOURCES or (name not in cca_names() and Path(name).is_dir())
        ]

    @property
    def folder(self) -> Path:
        return self.out or paths.results() / NAME / "page"


def answer(request: Request, console: Console) -> None:
    """Print each verdict, write what is requested, and the page; exit status 1 where a case failed."""
    found = run(request, console)
    for each in found:
        if each.outcome == "failed":
            for line in filter(None, (*each.lines, explained(each))):
                say(console, f"{each.sender}: {line}")
    counts = {name: sum(1 for each in found if each.outcome == name) for name in ("passed", "failed", "not applicable")}
    say(console, ", ".join(f"{count} {name}" for name, count in counts.items()))
    write_page(request.folder, found)
    show_path(console, "page", request.folder / PAGE)
    if any(failed(found)):
        raise typer.Exit(1)


def run(request: Request, console: Console) -> list[Verdict]:
    """Return the verdicts of a request, with its files written."""
    require_writable(request.json, request.junit)
    cases = chosen(request.suite, request.case)
    found = _verdicts(request, cases, console)
    if request.json:
        write_whole(request.json, json.dumps([each.record for each in found], indent=1) + "\n")
    if request.junit:
        write_whole(request.junit, junit(found))
    return found


def _verdicts(request: Request, cases: list[Case], console: Console) -> list[Verdict]:
    own = request.own
    known = [name for name in request.names if name not in own]
    if not request.names or len({*request.names}) < len(request.names):
        raise field_error("command line", "sender", request.sender, "senders with commas between them, each named once")
    require_senders(",".join(known) or None)
    virtual = prepare(Recipe(), console)
    senders = known_senders(known) if known else {}
    if own:
        brought, virtual = own_senders_of(TryRequest(tuple(map(Path, own))), virtual, console)
        senders = brought | senders
    subjects = [subject(cca, cases) for cca in senders.values()]
    pairs = [(case, each) for case in cases for each in subjects]
    return verdicts(pairs, Bench(virtual, request.workers, console))


def junit(found: Iterable[Verdict]) -> str:
    """Return the report: without times, so that the same verdicts are the same bytes."""
    root = Element("testsuites", name="lab conform")
    suites: dict[str, list[Verdict]] = {}
    for each in found:
        suites.setdefault(each.case.suite, []).append(each)
    for name, of_suite in suites.items():
        counts = {kind: sum(1 for each in of_suite if each.outcome == kind) for kind in ("failed", "not applicable")}
        suite = SubElement(
            root,
            "testsuite",
            name=name,
            tests=str(len(of_suite)),
            failures=str(counts["failed"]),
            skipped=str(counts["not applicable"]),
            errors="0",
        )
        for each in of_suite:
            _test(suite, each)
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + escaped_lines(tostring(root, encoding="unicode")) + "\n"


def _test(suite: Element, verdict: Verdict) -> None:
    test = SubElement(
        suite, "testcase", classname=f"{verdict.sender}.{verdict.case.suite}", name=verdict.case.file.stem
    )
    if verdict.outcome == "failed":
        SubElement(test, "failure", message=verdict.reason).text = "\n".join(verdict.lines)
    elif verdict.outcome == "not applicable":
        SubElement(test, "skipped", message=verdict.reason)
