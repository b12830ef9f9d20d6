# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the table of attacks in docs/threat-model.md from the results of the tests that make them.

Run it as root:   python -m tests.hostile.escapes.table [FILE...]

A test is an attack if it has the mark `attack("what is tried")`; its parameter `mode` is the sandbox. The same tests
run again as an ordinary user. FILE: outcomes of runs in a VM, made by tests/hostile/escapes/in-vm.
"""

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from lab_try import confined
from lab_try.module import builder

from lab.base.paths import REPO
from lab.base.sandbox_mode import MODES
from lab.kernel import build
from lab.kernel.recipe import Recipe
from tests.hostile.escapes import ordinary

PAGE = REPO / "docs" / "threat-model.md"
BEGIN, END = "<!-- attacks: made by python -m tests.hostile.escapes.table -->\n", "<!-- end of attacks -->\n"
TESTS = (
    "tests/kernel/test_escapes.py",
    "packages/try/tests/kernel/test_own_module_confined.py",
    "packages/course/tests/kernel/test_forged_exit.py",
)
OUTCOMES = "--outcomes"  # write them to a file, and no table
EMULATED, EMULATED_BUILD_S = "--emulated", 1200  # the word stands between their file and the names of tests
ROOT, USER, VM = "root", "ordinary user", "in the VM"
Outcomes = dict[str, dict[str, dict[str, bool]]]  # of attack, sandbox and test: whether it passed


class Attacks:
    """A plugin of pytest: the outcomes by attack and sandbox, in a file after each test where there is one."""

    def __init__(self, file: Path | None = None) -> None:
        self.file = file
        self.attacks: dict[str, tuple[str, str]] = {}
        self.outcomes: Outcomes = defaultdict(lambda: defaultdict(dict))

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the attacks only."""
        marks = {item: item.get_closest_marker("attack") for item in items}
        items[:] = [item for item in items if marks[item]]
        for item in items:
            mark = marks[item]
            assert mark
            self.attacks[item.nodeid] = (mark.args[0], getattr(item, "callspec").params["mode"])  # noqa: B009

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Store an outcome, and print why one failed; a test that did not run has failed."""
        if report.when == "call" or not report.passed:
            print(f"{report.outcome} in {report.duration:.0f} s: {report.nodeid}\n{report.longreprtext}", flush=True)
            attack, mode = self.attacks[report.nodeid]
            self.outcomes[attack][mode][report.nodeid] = report.passed
            if self.file:
                self.file.write_text(json.dumps(self.outcomes))


def tried(folder: Path, file: Path | None = None, tests: Sequence[str] = TESTS) -> tuple[int, Outcomes]:
    """Run the attacks as this user; returns the exit status of the tests, and the outcomes, which `file` keeps."""
    attacks = Attacks(file)
    options = ["-q", "-n0", "-p", "no:cacheprovider", f"--basetemp={folder}"]
    status = pytest.main([*options, *(str(REPO / test) for test in tests)], plugins=[attacks])
    return int(status), attacks.outcomes


def tried_emulated(folder: Path, file: Path, tests: Sequence[str]) -> int:
    """Run them where a processor is software: an honest build takes longer than BUILD_S."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (builder, confined):
            patch.setattr(module, "BUILD_S", EMULATED_BUILD_S)
        return tried(folder, file, tests or TESTS)[0]


def tried_as_ordinary_user(folder: Path) -> tuple[int, Outcomes]:
    file = folder / "outcomes.json"
    words = [sys.executable, "-m", "tests.hostile.escapes.table", OUTCOMES, str(file)]
    status = subprocess.run(ordinary.command(build.ensure(Recipe()), folder, words), cwd=REPO, check=False).returncode
    return status, json.loads(file.read_text())


def joined(parts: Iterable[Outcomes]) -> Outcomes:
    """Return the outcomes of several runs as those of one: a test that failed in one of them has failed."""
    whole: Outcomes = defaultdict(lambda: defaultdict(dict))
    for attack, by_mode in (row for part in parts for row in part.items()):
        for mode, found in by_mode.items():
            for test, passed in found.items():
                whole[attack][mode][test] = passed and whole[attack][mode].get(test, True)
    return whole


def table(by_user: dict[str, Outcomes]) -> str:
    """Return a row per attack; a cell counts the tests in which it was refused or ended, or the ones that succeed."""
    columns = [(mode, user) for mode in MODES for user in (ROOT, USER)]
    names = [*(f"{mode}, {user}" for mode, user in columns), *(f"{mode}, {VM}" for mode in MODES)]
    columns += [(mode, VM) for mode in MODES]
    head = [f"| attack | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    attacks = dict.fromkeys(attack for outcomes in by_user.values() for attack in outcomes)
    cells = {attack: [_cell(by_user[user].get(attack, {}).get(mode)) for mode, user in columns] for attack in attacks}
    return "\n".join([*head, *(f"| {attack} | {' | '.join(row)} |" for attack, row in cells.items())]) + "\n"


def _cell(found: dict[str, bool] | None) -> str:
    if not found:
        return "not run"
    failed = list(found.values()).count(False)
    return f"**succeeds** ({failed})" if failed else str(len(found))


def main(words: list[str]) -> int:
    """Run the attacks and write the table, or the outcomes alone; returns the exit status of the tests."""
    with ordinary.open_folder() as place:
        if words[:1] == [OUTCOMES]:
            if words[2:3] == [EMULATED]:
                return tried_emulated(place / "own", Path(words[1]), words[3:])
            return tried(place / "own", Path(words[1]))[0]
        assert os.geteuid() == 0, "the table has a column of root's"
        status, of_root = tried(place / "root")
        users_status, of_user = tried_as_ordinary_user(place / "user")
    in_vm = joined(json.loads(Path(word).read_text()) for word in words)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    made = table({ROOT: of_root, USER: of_user, VM: in_vm})
    PAGE.write_text(f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}")
    return status or users_status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
