# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial of the grader's: its tables, its exit by the true queue, and its picture."""

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from lab.figures import cwnd_rtt
from lab.figures.cwnd_rtt import Expected, Limits
from lab.figures.moments import Moments
from lab.figures.save import svg
from lab.figures.style import Sender
from lab.judge.outcome import Outcome, outcome
from lab.judge.registry import TRUTH
from lab.judge.slow_start import SlowStartExit, first_exit
from lab.links.profile import Profile
from lab.report.template import Picture, picture
from lab.schema.cca import Cca
from lab.tables.downloads import FLOW
from lab.tables.kernel_log import read_log
from lab.tables.stored_trial import Trial


@dataclass(frozen=True)
class Ran:
    """One trial of a sender over a link."""

    trial: Trial
    cca: Cca
    link: Profile

    @cached_property
    def outcomes(self) -> dict[str, Outcome]:
        """Return what each at-capacity rule finds, by its name."""
        return {row["heuristic"]: row for row in outcome(copy(self.trial))}

    @property
    def truth(self) -> Outcome:
        """Return what the true queue shows: capacity_s, exit_class, loss_s and the rest of the trial's row."""
        return self.outcomes[TRUTH]

    @cached_property
    def exit(self) -> SlowStartExit | None:
        """Return when, at which window and why the sender left its first slow start; null where it did not."""
        return first_exit(self.trial.exits, FLOW)

    @cached_property
    def acks(self) -> pl.DataFrame:
        """Return the ACKs of the download, as the sender's kernel saw them."""
        return self.trial.acks.filter(pl.col("flow") == FLOW)

    @property
    def kernel_log(self) -> str:
        return read_log(self.trial.path.parents[1], self.trial.path.name)

    @property
    def mss_bytes(self) -> int:
        return self.trial.meta["mss_bytes"]

    @property
    def throughput_mbps(self) -> float:
        """Return the goodput of the download."""
        return self.trial.meta["flows"][0]["throughput_mbps"]

    def picture(
        self, name: str, caption: str, until_s: float | None = None, expected: Expected | None = None
    ) -> Picture:
        """Draw window, round trip and queue over one axis of time, with the exit, the capacity and the first loss.

        `expected` is the window that the assignment's rule has with the same ACKs, in grey.
        """
        row = self.truth
        moments = Moments(None, row["capacity_s"], row["exit_s"], row["loss_s"])
        look = Sender(self.cca.name, self.cca.label, self.cca.colour)
        drawn = cwnd_rtt.figure(
            self.acks, self.trial.qdisc, Limits.of_path(self.trial.meta), moments, look, until_s, expected
        )
        what = f"{caption} Over {self.link.title}: {moments.in_words()}."
        return picture(name, svg(drawn), what, what)
