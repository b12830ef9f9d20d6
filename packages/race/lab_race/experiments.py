# SPDX-License-Identifier: GPL-2.0-or-later
"""Who runs beside whom: on each link every sender alone, and every sender beside every rival at each start."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lab_compare.link_kinds import KINDS, Link
from lab_compare.link_kinds import links as links_of_kinds

from lab.base.choice import names, suggested
from lab.base.errors import COMMAND_LINE, field_error
from lab.base.named_files import profile_files
from lab.base.plain_file import write_whole
from lab.runs.experiment import Experiment, assemble
from lab.schema.cca import Cca
from lab.schema.load import parse, read_yaml
from lab.schema.scenario import Scenario

LONG_S, LASTS_S = {"geo": 60}, 15
WIRE = "wired-clean"
BUFFERS_BDPS = {"0.5": 0.5, "1": 1, "4": 4}
RECORDED = ("geo", "leo", "lte", "wifi-high")
# What changes of the wire, by the link's name.
WIRES: Mapping[str, Mapping[str, Any]] = {
    **{f"wired-{name}bdp": {"buffer_bdps": bdps} for name, bdps in BUFFERS_BDPS.items()},
    "wired-fq_codel": {"buffer_bdps": 4, "queue": {"kind": "fq_codel"}},
}
NAMES = (*RECORDED, *WIRES)
PREFIX = "race-"
SEED = 1


def links(given: str | None, duration_s: int | None, folder: Path) -> list[Link]:
    """Return the links that are named, else all; the profiles of wires are written into a folder."""
    wanted = names(given) if given else list(NAMES)
    found = [_link(name, duration_s, folder) for name in wanted]
    for number, name in enumerate(wanted):
        if name in wanted[:number]:
            raise field_error(COMMAND_LINE, "links", name, "a link that is named once")
    return found


def _link(name: str, duration_s: int | None, folder: Path) -> Link:
    lasts_s = duration_s or LONG_S.get(name, LASTS_S)
    if name in WIRES:
        return Link(name, str(_written(name, folder)), lasts_s)
    if name in KINDS and not KINDS[name].rival:
        return replace(KINDS[name], duration_s=lasts_s)
    if Path(name).suffix == ".yml" or name in profile_files():
        return replace(links_of_kinds([name], lasts_s)[0], duration_s=lasts_s)
    raise field_error(COMMAND_LINE, "links", name, f"a link of the race or a profile: {suggested(name, NAMES)}")


def _written(name: str, folder: Path) -> Path:
    """Write a wire's profile: JSON is YAML."""
    content = read_yaml(profile_files()[WIRE])
    content = {**content, "title": f"{content['title']}: {name}", "down": {**content["down"], **WIRES[name]}}
    folder.mkdir(parents=True, exist_ok=True)
    return write_whole(folder / f"{name}.yml", json.dumps(content, indent=1) + "\n")


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
