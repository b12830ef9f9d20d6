# SPDX-License-Identifier: GPL-2.0-or-later
"""Who runs beside whom: on each link every sender alone, and every sender beside every rival at each start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.base.errors import COMMAND_LINE, field_error
from lab.runs.experiment import Experiment, assemble
from lab.runs.link_kinds import Link
from lab.schema.cca import Cca
from lab.schema.load import parse
from lab.schema.scenario import Scenario

PREFIX = "race-"
SEED = 1


@dataclass(frozen=True)
class Pairing:
    """The trials of all senders on a link beside one rival, which begins so much later; without a rival: alone."""

    link: Link
    rival: str | None = None
    start_s: float = 0.0

    @property
    def name(self) -> str:
        """Return the name of its run's folder."""
        beside = f"beside-{self.rival}-{self.start_s:g}s" if self.rival else "alone"
        return f"{PREFIX}{self.link.name}-{beside}"


def pairings(links: Sequence[Link], senders: Sequence[str], starts_s: Sequence[float]) -> list[Pairing]:
    """Return every pairing of a race; UserError where a trial ends before its rival begins."""
    shortest_s = min(link.duration_s for link in links)
    for start_s in starts_s:
        if start_s >= shortest_s:
            raise field_error(COMMAND_LINE, "starts", f"{start_s:g}", f"below {shortest_s}, the length of a trial in s")
    beside = [Pairing(link, rival, start_s) for link in links for start_s in starts_s for rival in senders]
    return [*(Pairing(link) for link in links), *beside]


def experiment(pairing: Pairing, senders: Mapping[str, Cca], trials: int) -> Experiment:
    """Return a pairing as an experiment; all have the same draws."""
    link = pairing.link
    content: dict[str, Any] = {
        "question": f"What does a sender lose beside {pairing.rival}?" if pairing.rival else "What has a sender alone?",
        "topology": "dumbbell",
        "profile": link.profile,
        "ccas": list(senders),
        "trials": trials,
        "duration_s": link.duration_s,
        "seed": SEED,
        "mtu_bytes": link.mtu_bytes,
        "pacing": link.pacing,
        "rival": pairing.rival,
        "rival_start_s": pairing.start_s,
        "in_summary": False,
    }
    known = {name: value for name, value in content.items() if value is not None}
    scenario = parse(Scenario, known, Path(COMMAND_LINE))
    return assemble(pairing.name, scenario, COMMAND_LINE, "cca", dict(senders))
