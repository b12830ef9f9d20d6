# SPDX-License-Identifier: GPL-2.0-or-later
"""What somebody expects of a comparison, such as "geo: chokepoint >= cubic", and whether it holds: for a CI."""

import json
import operator
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from xml.etree import ElementTree

import typer
from lab_compare.comparison import Comparison
from lab_compare.exits import exits_of
from lab_compare.link_kinds import Link
from lab_compare.results import LinkResult
from rich.console import Console

from lab.base.errors import COMMAND_LINE, field_error
from lab.base.format import AT_LEAST
from lab.base.plain_file import write_whole
from lab.base.plain_text import escaped_lines
from lab.base.stats import AtLeast, difference, mean_of
from lab.commands.lines import say
from lab.evaluation.measures import BY_NAME, Measure

FORM = re.compile(r"\s*([\w.-]+)\s*:\s*(\w+)\s*([<>]=?+)\s*(\S+)\s*")
RULE = '"LINK: MEASURE OPERATOR SENDER" or a number instead of the sender, such as "geo: chokepoint >= cubic"'
OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True)
class Expectation:
    """How a subject's mean over its valid trials is to compare with another sender's, or with a number."""

    text: str
    link: str
    measure: Measure
    operator: str
    right: str | float


@dataclass(frozen=True)
class Judged:
    """An expectation of one subject, and what came out."""

    link: str
    text: str
    subject: str
    holds: bool
    found: str


def read(text: str) -> Expectation:
    """Read an expectation; UserError with the form that it must have."""
    parts = FORM.fullmatch(text)
    if not parts:
        raise field_error(COMMAND_LINE, "expect", text, RULE)
    link, measure, sign, right = parts.groups()
    if measure not in BY_NAME:
        raise field_error(COMMAND_LINE, "expect", text, f"of a measure: {', '.join(BY_NAME)}")
    value = _number(right)
    if isinstance(value, float) and not (0 <= value <= 1 if BY_NAME[measure].binary else isfinite(value)):
        rule = "of a share from 0 to 1, not in percent" if BY_NAME[measure].binary else RULE
        raise field_error(COMMAND_LINE, "expect", text, rule)
    return Expectation(text.strip(), link, BY_NAME[measure], sign, value)


def _number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def require_known(expectations: Sequence[Expectation], comparison: Comparison) -> None:
    """Refuse an expectation that no trial can decide: of a link, a measure or a sender that is not there."""
    links = {link.name: link for link in comparison.links}
    for each in expectations:
        if rule := _undecided(each, links, comparison):
            raise field_error(COMMAND_LINE, "expect", each.text, rule)


def _undecided(expectation: Expectation, links: Mapping[str, Link], comparison: Comparison) -> str | None:
    """Return the rule that an expectation breaks; None where trials decide it."""
    right = expectation.right
    if expectation.link not in links:
        return f"of a link that runs: {', '.join(links)}"
    if expectation.measure.shared != bool(links[expectation.link].rival):
        return "of harm on a shared link, and of another measure on any other link"
    if isinstance(right, str) and right not in comparison.senders:
        return f"compared with a number or one of {', '.join(comparison.senders)}"
    return "compared with another sender than itself" if [right] == list(comparison.subjects) else None


def judged(expectations: Sequence[Expectation], subjects: Sequence[str], found: Sequence[LinkResult]) -> list[Judged]:
    """Judge every expectation for every subject; one without a value does not hold."""
    by_name = {each.link.name: each for each in found}
    return [_judged(each, subject, by_name[each.link]) for each in expectations for subject in subjects]


def _judged(expectation: Expectation, subject: str, found: LinkResult) -> Judged:
    measure, right = expectation.measure, expectation.right
    values = found.values.get(measure.name, {})
    exits = exits_of(found).get(subject) if measure.binary else None
    forged = exits.contradictions if exits else []
    own = mean_of(values.get(subject, []))
    other = right if isinstance(right, float) else mean_of(values.get(right, []))
    known = difference(own, other) is not None
    holds = own is not None and other is not None and known and OPERATORS[expectation.operator](own, other)
    named = [(subject, own)] + ([] if isinstance(right, float) else [(right, other)])
    shown = ", ".join(f"{name} {_text(value, measure)}" for name, value in named)
    refused = f"; {len(forged)} of its trials count for nothing: {forged[0]}" if forged else ""
    return Judged(expectation.link, expectation.text, subject, holds, shown + refused)


def _text(value: float | None, measure: Measure) -> str:
    if value is None:
        return "has no value"
    return (
        f"{AT_LEAST if isinstance(value, AtLeast) else ''}{100 * value if measure.binary else value:.4g} {measure.unit}"
    )


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
    return escaped_lines(ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)) + "\n"
