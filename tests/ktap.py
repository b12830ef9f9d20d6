# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading KTAP, in which the kernel reports the results of its own tests (Documentation/dev-tools/ktap.rst).

Suites nest: a case with parameters is a suite of its own, indented further, whose end is that case's result.
"""

import re
from dataclasses import dataclass, field

STAMP = re.compile(r"^\[ *[0-9.]+\] ")
SUITE = re.compile(r"# Subtest: (\S+)$")
PLAN = re.compile(r"1\.\.(\d+)$")
RESULT = re.compile(r"(not ok|ok) \d+(?: -)? (.+?)(?: # (.*))?$")


@dataclass(frozen=True)
class Case:
    """One test's result; `suite` names those it lies in, by dots."""

    suite: str
    name: str
    ok: bool
    skipped: bool


@dataclass
class Reading:
    """What was read so far, and the suites that have not ended: indent, name, cases planned and not reported."""

    cases: list[Case] = field(default_factory=list)
    open: list[tuple[int, str, int]] = field(default_factory=list)

    @property
    def suite(self) -> str:
        return ".".join(name for _, name, _ in self.open)

    def begin(self, indent: int, name: str) -> None:
        self.end(indent)
        self.open.append((indent, name, 0))

    def end(self, indent: int) -> None:
        """End the suites at this depth and below it; a case that was planned and never reported has failed."""
        while self.open and self.open[-1][0] >= indent:
            missing = self.open[-1][2]
            self.cases += [Case(self.suite, "(no result)", False, False)] * max(missing, 0)
            self.open.pop()

    def plan(self, cases: int) -> None:
        """Read how many cases the newest suite has; what comes before a suite began is of the whole log."""
        if self.open:
            self.open[-1] = (*self.open[-1][:2], self.open[-1][2] + cases)

    def result(self, indent: int, name: str, ok: bool, skipped: bool) -> None:
        """Take a case's result, or a whole suite's, which is none of its cases."""
        self.end(indent + 1)
        if self.open and self.open[-1][0] == indent:
            self.cases.append(Case(self.suite, name, ok, skipped))
            self.plan(-1)


def read_ktap(log: str) -> list[Case]:
    """Read the cases of every suite in a kernel log."""
    reading = Reading()
    for line in (STAMP.sub("", line.rstrip()) for line in log.splitlines()):
        words = line.lstrip(" ")
        indent = len(line) - len(words)
        if found := SUITE.match(words):
            reading.begin(indent, found[1])
        elif found := PLAN.match(words):
            reading.plan(int(found[1]))
        elif found := RESULT.match(words):
            reading.result(indent, found[2], found[1] == "ok", (found[3] or "").startswith("SKIP"))
    reading.end(0)
    return reading.cases
