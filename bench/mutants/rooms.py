# SPDX-License-Identifier: GPL-2.0-or-later
"""Make the changes of each room, run the tests that concern them, and count what was noticed."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import Queue

from bench.mutants import changes, survivors
from bench.mutants.changes import Change
from bench.mutants.concern import Concern
from bench.mutants.copies import Copy
from bench.mutants.survivors import Key
from lab.base.paths import LAB, REPO

ROOMS = ("judge", "evaluation", "links", "runs", "report", "tables", "papers", "cluster", "try")
WITHOUT_A_KERNEL = {"try": ("expect.py", "findings.py", "senders.py", "smoke.py")}  # the rest of it needs one
NOT_FOUND = (4, 5)  # exit status of pytest: a name of a test, or any test


@dataclass
class Tally:
    """What became of the changes of one room."""

    room: str
    possible: int  # changes of the room, of which a sample is made
    survivors: list[Key] = field(default_factory=list)
    noticed: list[Key] = field(default_factory=list)
    endless: int = 0  # of those noticed: the tests did not end

    @property
    def made(self) -> int:
        """Return how many changes were made."""
        return len(self.survivors) + len(self.noticed)

    @property
    def unlisted(self) -> list[Key]:
        """Return the survivors for which no reason is known."""
        listed = survivors.known()
        return [key for key in self.survivors if key not in listed]

    @property
    def counted(self) -> int:
        """Return how many changes a test could notice, as far as is known."""
        return len(self.noticed) + len(self.unlisted)

    @property
    def share(self) -> float:
        """Return the share of those that was noticed; 1 of no changes."""
        return len(self.noticed) / self.counted if self.counted else 1.0

    @property
    def line(self) -> str:
        """Return the counts as one line."""
        listed = self.made - self.counted
        return f"{self.room:<12}{self.made} changes, {listed} listed, {self.share:.1%} of the others noticed"


def of_room(room: str) -> Iterator[Change]:
    """Yield every change of a room, or of a package."""
    folder = LAB / room if (LAB / room).is_dir() else REPO / "packages" / room / f"lab_{room}"
    files = map(folder.joinpath, WITHOUT_A_KERNEL[room]) if room in WITHOUT_A_KERNEL else sorted(folder.rglob("*.py"))
    for file in files:
        yield from changes.of_file(file, str(file.relative_to(REPO)))


def sample(possible: list[Change], count: int | None, seed: int) -> list[Change]:
    """Return `count` of the changes, the same ones as long as their code stays; all where it is None."""
    return sorted(possible, key=lambda change: change.rank(seed))[:count]


def run(
    room: str,
    chosen: list[Change],
    tally: Tally,
    concern: Concern,
    copies: "Queue[Copy]",
    show: Callable[[str], None],
) -> Tally:
    """Make the chosen changes, each in a copy that is free."""
    with ThreadPoolExecutor(copies.qsize()) as pool:
        for change, status in zip(chosen, pool.map(lambda one: _status(one, concern, copies), chosen), strict=True):
            if status == 0:
                tally.survivors.append(change.key)
                known = "listed  " if change.key in survivors.known() else "survived"
                show(f"{known}  {room}  {change.file}:{change.lines.start}  {change.function}: {change.difference}")
            else:
                tally.noticed.append(change.key)
                tally.endless += status is None or status < 0
    return tally


def _status(change: Change, concern: Concern, copies: "Queue[Copy]") -> int | None:
    """Return pytest's exit status; 0 where no test executes the change."""
    tests = concern.tests(change)
    if not tests:
        return 0
    copy = copies.get()
    try:
        status = _run(copy, change, tests, concern)
        if status in NOT_FOUND:  # the change took a parameter away that names a test
            status = _run(copy, change, sorted({test.split("::")[0] for test in tests}), concern)
        return status
    finally:
        copies.put(copy)


def _run(copy: Copy, change: Change, tests: list[str], concern: Concern) -> int | None:
    cpu_s = concern.cpu_s(tests)
    reply = copy.run({"file": change.file, "source": change.source, "tests": tests, "cpu_s": cpu_s, "cover": ""})
    return reply["status"]
