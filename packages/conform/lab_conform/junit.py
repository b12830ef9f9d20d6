# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts as JUnit's XML, which every CI reads: a case on a sender is a test."""

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from lab.base.plain_text import escaped_lines
from lab_conform.verdict import Verdict


def junit(found: Iterable[Verdict]) -> str:
    """Return the report: without times, so that the same verdicts are the same bytes."""
    root = Element("testsuites", name="lab conform")
    suites: dict[str, list[Verdict]] = {}
    for each in found:
        suites.setdefault(each.case.suite, []).append(each)
    for name, verdicts in suites.items():
        counts = {kind: sum(1 for each in verdicts if each.outcome == kind) for kind in ("failed", "not applicable")}
        suite = SubElement(
            root,
            "testsuite",
            name=name,
            tests=str(len(verdicts)),
            failures=str(counts["failed"]),
            skipped=str(counts["not applicable"]),
            errors="0",
        )
        for each in verdicts:
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
