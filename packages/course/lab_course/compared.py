# SPDX-License-Identifier: GPL-2.0-or-later
"""A submission's sender against one of the lab's on the same draws of a link, by the statistics of `lab compare`."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

from lab.base.stats import Paired, paired
from lab.judge.classify import ExitClass
from lab.judge.digest import OBJECT_BYTES, digest, mean_wait_ms
from lab_course.ran import Ran
from lab_course.work import Download, Work

Value = Callable[[Ran], float | None]


def object_s(size_bytes: int) -> Value:
    """Return the measure: seconds until the client has an object; the download's end where it never has it."""

    def value(ran: Ran) -> float | None:
        had = digest(copy(ran.trial))["download_s"][size_bytes // OBJECT_BYTES - 1]
        return float(ran.trial.meta["flows"][0]["end_s"]) if had is None else had

    return value


def queue_ms(ran: Ran) -> float | None:
    """Return the mean wait at the bottleneck."""
    return mean_wait_ms(copy(ran.trial))


def at_chokepoint(ran: Ran) -> float:
    """Return 1 where the exit is at the chokepoint by the true queue, else 0: also without an exit."""
    return float(ran.truth["exit_class"] == ExitClass.CHOKEPOINT)


@dataclass(frozen=True)
class Compared:
    """Two senders over the same trials of a link, and their values by one measure."""

    link: str
    own: Sequence[Ran]
    other: Sequence[Ran]

    def values(self, measure: Value) -> tuple[list[float | None], list[float | None]]:
        """Return the values of both, by trial."""
        return [measure(ran) for ran in self.own], [measure(ran) for ran in self.other]

    def paired(self, measure: Value) -> Paired:
        """Return own minus other, with the paired bootstrap's interval."""
        return paired(*self.values(measure))


def compare(work: Work, sender: str, other: str, link: str, trials: int, download: Download) -> Compared:
    """Run both senders over so many draws of a link."""
    seeds = [work.seed(number) for number in range(trials)]
    own = [work.run(sender, link, seed, download) for seed in seeds]
    return Compared(link, own, [work.run(other, link, seed, download) for seed in seeds])
