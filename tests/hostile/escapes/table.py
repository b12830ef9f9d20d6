# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the table of attacks in docs/threat-model.md from the results of the tests that make them.

Run it as   python -m tests.hostile.escapes.table

A test is an attack if it has the mark `attack("what is tried")`; its parameter `mode` is the sandbox.
"""

import os
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from lab.base.paths import REPO
from lab.base.sandbox_mode import MODES

PAGE = REPO / "docs" / "threat-model.md"
BEGIN, END = "<!-- attacks: made by python -m tests.hostile.escapes.table -->\n", "<!-- end of attacks -->\n"
TESTS = ("tests/kernel/test_escapes.py", "tests/kernel/test_own_module_confined.py")


class Attacks:
    """A plugin of pytest: the outcomes by attack and sandbox."""

    def __init__(self) -> None:
        self.attacks: dict[str, tuple[str, str]] = {}
        self.outcomes: dict[tuple[str, str], list[bool]] = defaultdict(list)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the attacks only."""
        marks = {item: item.get_closest_marker("attack") for item in items}
        items[:] = [item for item in items if marks[item]]
        for item in items:
            mark = marks[item]
            assert mark
            self.attacks[item.nodeid] = (mark.args[0], getattr(item, "callspec").params["mode"])  # noqa: B009

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Store an outcome; a test that did not run has failed."""
        if report.when == "call" or not report.passed:
            self.outcomes[self.attacks[report.nodeid]].append(report.passed)

    def table(self) -> str:
        """Return a row per attack; each cell states what was shown, with the number of tests."""
        who = "root" if os.geteuid() == 0 else "an ordinary user"
        head = [f"| attack (started by {who}) | {' | '.join(MODES)} |", f"|---|{'---|' * len(MODES)}"]
        names = dict.fromkeys(attack for attack, _ in self.attacks.values())
        rows = [f"| {name} | {' | '.join(self._cell(name, mode) for mode in MODES)} |" for name in names]
        return "\n".join([*head, *rows]) + "\n"

    def _cell(self, name: str, mode: str) -> str:
        found = self.outcomes.get((name, mode), [])
        if not found:
            return "not tried"
        return f"refused or ended ({len(found)})" if all(found) else f"**succeeds** ({found.count(False)})"


def main() -> int:
    """Run the attacks and write the table; returns the exit status of the tests."""
    attacks = Attacks()
    status = pytest.main(["-q", "-n0", *(str(REPO / Path(test)) for test in TESTS)], plugins=[attacks])
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{attacks.table()}\n{END}{after}")
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
