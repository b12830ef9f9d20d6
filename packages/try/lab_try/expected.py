# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab try --expect`: print what holds, write it as JSON and JUnit for a CI; status 1 where one does not."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree import ElementTree

import typer
from rich.console import Console

from lab.base.errors import COMMAND_LINE, field_error
from lab.base.plain_file import write_whole
from lab.commands.lines import say
from lab.evaluation.compare.results import LinkResult
from lab_try.expect import Expectation, Judged, judged


@dataclass(frozen=True)
class Expected:
    """Expectations of a command line, and the files that say what came out."""

    expectations: tuple[Expectation, ...] = ()
    json: Path | None = None
    junit: Path | None = None

    def __post_init__(self) -> None:
        """Refuse files of no expectation, and those that cannot be written, before any trial."""
        for name, file in (("json", self.json), ("junit", self.junit)):
            if file and not self.expectations:
                raise field_error(COMMAND_LINE, name, file, "used with --expect")
        require_writable(self.json, self.junit)


def require_writable(json: Path | None, junit: Path | None) -> None:
    """Refuse files of results that cannot be written.

    A file is replaced: in place of a link or a device, such as /dev/stdout, the system would have a plain file.
    """
    for name, file in (("json", json), ("junit", junit)):
        if file and not os.access(file.parent, os.W_OK):
            raise field_error(COMMAND_LINE, name, file, "in a folder that can be written")
        if file and (file.is_symlink() or (file.exists() and not file.is_file())):
            raise field_error(COMMAND_LINE, name, file, "a plain file, no folder, link or device")
    if json and json == junit:
        raise field_error(COMMAND_LINE, "junit", junit, "another file than that of --json")


def conclude(expected: Expected, subjects: Sequence[str], found: Sequence[LinkResult], console: Console) -> None:
    """Judge the expectations; exit status 1 where one does not hold."""
    rows = judged(expected.expectations, subjects, found)
    for row in rows:
        say(console, f"{'holds' if row.holds else 'FAILS'}     {row.text}: {row.found}")
    records = json.dumps([asdict(row) for row in rows], indent=1) + "\n"
    for file, text in ((expected.json, records), (expected.junit, junit(rows))):
        if file:
            write_whole(file, text)
    if not all(row.holds for row in rows):
        raise typer.Exit(1)


def junit(rows: Sequence[Judged]) -> str:
    """Return the results in the form that CI systems read."""
    failures = sum(not row.holds for row in rows)
    suite = ElementTree.Element("testsuite", name="lab try", tests=str(len(rows)), failures=str(failures))
    for row in rows:
        case = ElementTree.SubElement(suite, "testcase", classname=row.link, name=f"{row.text} ({row.subject})")
        if not row.holds:
            ElementTree.SubElement(case, "failure", message=row.found)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
