# SPDX-License-Identifier: GPL-2.0-or-later
"""What is compared: subjects with every other sender, over some links, on the same draws of each link."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.base.choice import one_of
from lab.base.errors import COMMAND_LINE, field_error
from lab.evaluation.measures import BY_NAME, Measure
from lab.runs.experiment import Experiment, assemble
from lab.runs.vary import at
from lab.schema.cca import Cca, load_cca
from lab.schema.load import parse
from lab.schema.scenario import Scenario
from lab.senders.named import by_name, sender
from lab_compare.link_kinds import Link

TRIALS = 12  # of each sender on each link, at most
SEED = 18
PREFIX = "compare-"  # of the folders of a comparison's runs


@dataclass(frozen=True)
class Comparison:
    """Senders over links.

    `subjects` are those that each other sender is tested against; `senders` holds every sender, subjects included, in
    the order of the page, and may hold some that cca.yml does not know. `trials` is the most of each sender on each
    link: a link whose intervals have separated gets fewer, unless the number is `fixed`. `duration_s` replaces that of
    every link.
    """

    subjects: Sequence[str]
    senders: Mapping[str, Cca]
    links: Sequence[Link]
    trials: int = TRIALS
    seed: int = SEED
    duration_s: int | None = None
    fixed: bool = False

    def __post_init__(self) -> None:
        """Refuse a comparison of nothing."""
        if len(self.senders) < 2:
            raise field_error(COMMAND_LINE, "cca", ",".join(self.senders), "at least two senders")
        for subject in self.subjects:
            if subject not in self.senders:
                raise field_error(COMMAND_LINE, "subject", subject, f"one of {', '.join(self.senders)}")
        if not self.subjects or not self.links:
            raise field_error(COMMAND_LINE, "subject" if self.links else "links", "", "given")
        self.experiment(self.links[0], self.trials)  # refuses its number of trials, and its duration

    def seconds(self, link: Link) -> int:
        """Return how long each trial of a link lasts."""
        return link.duration_s if self.duration_s is None else self.duration_s

    def experiment(self, link: Link, trials: int) -> Experiment:
        """Return the experiment of one link with so many trials: the first ones are the same whatever their number."""
        content = {
            "question": f"Which of {', '.join(self.senders)} is best on link {link.title}?",
            "topology": link.topology,
            "profile": link.profile,
            "ccas": list(self.senders),
            "trials": trials,
            "duration_s": self.seconds(link),
            "seed": self.seed,
            "mtu_bytes": link.mtu_bytes,
            "pacing": link.pacing,
            "rival": link.rival,
            "in_summary": False,
        }
        scenario = parse(Scenario, content, Path(COMMAND_LINE))
        experiment = assemble(f"{PREFIX}{link.name}", scenario, COMMAND_LINE, "cca", self._known(link))
        return at(experiment, dict(link.varied)) if link.varied else experiment

    def _known(self, link: Link) -> dict[str, Cca]:
        """Return what a link's experiment may name: the senders, and the rival."""
        rival = {} if link.rival is None else {link.rival: load_cca(link.rival, COMMAND_LINE, "rival")}
        return rival | dict(self.senders)


def known_senders(names: Sequence[str]) -> dict[str, Cca]:
    """Return senders by name, each once: those of the lab, and FILE:CONTROL of a user's file."""
    if len(set(names)) != len(names):
        raise field_error(COMMAND_LINE, "cca", ",".join(names), "a list that names each sender once")
    return by_name(sender(name) for name in names)


def measure_of(name: str) -> Measure:
    """Return a measure by its name."""
    if name not in BY_NAME:
        raise field_error(COMMAND_LINE, "measure", name, one_of(name, BY_NAME))
    return BY_NAME[name]


def primary_of(link: Link, measure: str) -> Measure:
    """Return what decides when a link has enough trials: the chosen measure; harm where a rival takes part."""
    return BY_NAME["harm"] if link.rival else measure_of(measure)
