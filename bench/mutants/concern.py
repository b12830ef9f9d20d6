# SPDX-License-Identifier: GPL-2.0-or-later
"""Which tests concern a change: those that execute its lines, first the files that import it, then whole texts.

Each file of tests runs once without a change, under coverage. What it executes is kept in the cache and holds as
long as none of the executed files changes. What a process that a test starts executes is not recorded: a function that
no test executes concerns those that execute anything of its file.
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import Queue
from typing import TypedDict

from bench.mutants.changes import Change
from bench.mutants.copies import Copy
from lab.base import paths
from lab.base.errors import UserError

PLACES = ("tests", "packages/*/tests", "bench/tests")
TESTS = tuple(f"{place}/{kind}/test_*.py" for place in PLACES for kind in ("unit", "whole"))
# of those, what needs a kernel, a browser, LaTeX, recordings or the network
NEED_MORE = (
    "artifact_appendix faults first_screen_in_browser notebooks pages_in_browser paper record_command "
    "recorded_downloads_command recordings report_notebook_whole setup stand_ins"
).split()
LIMIT_S = 40.0  # of the processor, for all tests of one change; what does not fit is not run
A_TEST_S = 0.02  # what a test costs besides its own time
BASELINE_S = 900.0
APPROVED = "test_approved"  # these compare whole texts: one of them notices most of what it executes
SKIP = ": skipped ("  # a skip that tests/skips.toml does not list


class Executed(TypedDict):
    """What one file of tests executes: contexts (a test, or the file) by line of each file of lab/, and durations."""

    lines: dict[str, dict[str, list[str]]]
    seconds: dict[str, float]  # of the processor


@dataclass
class Concern:
    """What all tests execute."""

    lines: dict[str, dict[int, set[str]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(set)))
    seconds: dict[str, float] = field(default_factory=dict)  # of each test, and of each file of tests

    def add(self, name: str, executed: Executed) -> None:
        """Add what a file of tests executes."""
        for file, lines in executed["lines"].items():
            for line, contexts in lines.items():
                self.lines[file][int(line)].update(filter(None, contexts))
        self.seconds |= executed["seconds"] | {name: sum(executed["seconds"].values())}

    def tests(self, change: Change) -> list[str]:
        """Return the tests to run for a change, in order."""
        found = self._executing(change)
        files = {test for test in found if "::" not in test}
        singles = {test for test in found if test.split("::")[0] not in files}
        imports = _imports(change.file)
        order = sorted(
            files | singles, key=lambda test: (not imports(test), APPROVED not in test, self._cost_s(test), test)
        )
        chosen, spent_s = list[str](), 0.0
        for test in order:
            spent_s += self._cost_s(test)
            if spent_s < LIMIT_S or not chosen:
                chosen.append(test)
        return chosen

    def cpu_s(self, tests: list[str]) -> float:
        """Return how long such tests may take; a change that makes them endless is noticed then."""
        return 10 + 3 * sum(self._cost_s(test) for test in tests)

    def _executing(self, change: Change) -> set[str]:
        lines = self.lines.get(change.file, {})
        found = set[str]().union(*(lines[line] for line in change.lines if line in lines))
        if change.function and found:  # else it runs at import, in a process that a test starts, or nowhere
            return found
        users = [other for other in self.lines if _imports(change.file)(other)]
        every = lines.values() or [by for file in users for by in self.lines[file].values()]
        return set[str]().union(*every)

    def _cost_s(self, test: str) -> float:
        return self.seconds.get(test, 0.0) + A_TEST_S


def _imports(file: str) -> Callable[[str], bool]:
    """Return a function that knows whether a file, or the file of a test, imports `file`."""
    package, _, name = file.removesuffix(".py").replace("/", ".").rpartition(".")
    pattern = re.compile(rf"{re.escape(package)}\.{name}\b|from {re.escape(package)} import .*\b{name}\b")
    return lambda test: bool(pattern.search(_text(test.split("::")[0])))


def _text(file: str) -> str:
    return (paths.REPO / file).read_text()


def measure(copies: "Queue[Copy]", workers: int, show: Callable[[str], None]) -> Concern:
    """Run every file of tests once where what it executes is not stored; UserError if one fails."""
    concern = Concern()
    files = sorted(file for pattern in TESTS for file in paths.REPO.glob(pattern))
    names = [str(file.relative_to(paths.REPO)) for file in files if file.stem.removeprefix("test_") not in NEED_MORE]
    with ThreadPoolExecutor(workers) as pool:
        for name, executed in zip(names, pool.map(lambda name: _executed(name, copies, show), names), strict=True):
            concern.add(name, executed)
    return concern


def _executed(name: str, copies: "Queue[Copy]", show: Callable[[str], None]) -> Executed:
    stored = paths.cache() / "mutants" / f"{name.replace('/', '-')}.json"
    if stored.is_file() and (kept := json.loads(stored.read_text()))["digests"] == _digests(kept["digests"]):
        executed: Executed = kept["executed"]
        return executed
    show(name)
    executed = _run(name, copies)
    stored.parent.mkdir(parents=True, exist_ok=True)
    digests = _digests([name, *executed["lines"]])
    executed["lines"] = {file: lines for file, lines in executed["lines"].items() if file.startswith("lab/")}
    stored.write_text(json.dumps({"digests": digests, "executed": executed}))
    return executed


def _run(name: str, copies: "Queue[Copy]") -> Executed:
    copy = copies.get()
    try:
        reply = copy.run({"file": "", "source": "", "tests": [name], "cpu_s": BASELINE_S, "cover": "cover.json"})
        if reply["status"] != 0:
            failed = [line for line in copy.output.splitlines() if line.startswith(("FAILED", "ERROR")) or SKIP in line]
            raise UserError(f"{name}: must pass without a change: {' '.join(failed)}"[:300])
        executed: Executed = json.loads((copy.folder / "cover.json").read_text())
        return executed
    finally:
        copies.put(copy)


def _digests(files: Iterable[str]) -> dict[str, str]:
    return dict(_digest(file) for file in files)


def _digest(file: str) -> tuple[str, str]:
    path = paths.REPO / file
    return file, hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
