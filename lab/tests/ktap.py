# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading KTAP, in which the kernel tells the results of its own tests (Documentation/dev-tools/ktap.rst)."""

import re
from dataclasses import dataclass

SUITE = re.compile(r"# Subtest: (\S+)$")
PLAN = re.compile(r"1\.\.(\d+)$")
RESULT = re.compile(r"(not ok|ok) \d+(?: -)? (\S+)(.*)$")


@dataclass(frozen=True)
class Case:
    """One test's result."""

    suite: str
    name: str
    ok: bool
    skipped: bool


def read_ktap(log: str) -> list[Case]:
    """Read the cases of every suite in a kernel log; one that was planned and never told its result has failed."""
    cases: list[Case] = []
    suite, missing = "", 0
    for line in (re.sub(r"^\[ *[0-9.]+\] ", "", line.rstrip()) for line in log.splitlines()):
        words = line.strip()
        if found := SUITE.match(words):
            cases += _lost(suite, missing)
            suite, missing = found[1], 0
        elif suite and (found := PLAN.match(words)):
            missing = int(found[1])
        elif (found := RESULT.match(words)) and suite:
            if line[0] != " ":  # the suite's own result: the end of it
                cases += _lost(suite, missing)
                suite, missing = "", 0
            else:
                cases.append(Case(suite, found[2], found[1] == "ok", "# SKIP" in found[3]))
                missing -= 1
    return cases + _lost(suite, missing)


def _lost(suite: str, missing: int) -> list[Case]:
    return [Case(suite, "(no result)", False, False)] * max(missing, 0)
