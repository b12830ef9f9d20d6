# SPDX-License-Identifier: GPL-2.0-or-later
"""The kinds of link that senders are compared on: a profile each, and how long its trials last.

A trial lasts long enough for every sender's exit from slow start, and for the truth that it is judged by.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lab.base.choice import suggested
from lab.base.errors import COMMAND_LINE, field_error
from lab.base.named_files import profile_files, require_name

PROFILE_S = 15  # of a profile that is no kind of link: --duration gives another


@dataclass(frozen=True)
class Link:
    """What a comparison runs over: a name for folders and tables, a profile, and what its trials need."""

    name: str
    profile: str
    duration_s: int
    mtu_bytes: int | None = None
    pacing: Literal["fq"] | None = None
    meaning: str = ""
    rival: str | None = None  # the sender of a second download at the same time: what does it lose?
    base: str = ""  # of a point of a sweep: the link's name without it
    varied: tuple[tuple[str, str], ...] = ()  # fields with their values, as they were written

    @property
    def topology(self) -> str:
        """Return the topology that has room for its downloads."""
        return "dumbbell" if self.rival else "path"

    @property
    def title(self) -> str:
        return self.meaning or self.name


# The servers of the recorded GEO downloads announced an MSS of 1308 and paced by fq: see lab/scenarios/geo.yml.
KINDS = {
    link.name: link
    for link in (
        Link("geo", "geo-viasat", 45, 1360, "fq", "GEO, modelled on recordings"),
        Link("geo-published", "geo-viasat-thesis", 45, 1360, "fq", "GEO, as the thesis describes it"),
        Link("leo", "leo-starlink", 6, meaning="LEO (Starlink), as recorded"),
        Link("lte", "lte-verizon", 8, meaning="LTE, as recorded"),
        Link("5g", "5g-driving", 8, meaning="5G, as recorded"),
        Link("wifi-high", "wifi-high", 4, pacing="fq", meaning="WiFi of high signal"),
        Link("wifi-low", "wifi-low", 4, pacing="fq", meaning="WiFi of low signal"),
        Link("home-fq_codel", "home-fq_codel", 5, meaning="home access behind fq_codel"),
        Link("home-cake", "home-cake", 5, meaning="home access behind CAKE"),
        Link("docsis-pie", "docsis-pie", 5, meaning="a cable modem's upstream with PIE"),
        Link("wired", "wired-clean", 5, meaning="wired, for reference"),
        Link("wired-shared", "wired-clean", 10, meaning="wired, shared with CUBIC", rival="cubic"),
    )
}

ALIKE = ("geo-published", "5g", "wifi-low", "home-cake", "wired-shared")  # each is like a link above it


def links(names: list[str] | None, duration_s: int | None = None, quick: bool = False) -> tuple[Link, ...]:
    """Return the links of a comparison: every kind, or those of some kinds, profiles and profiles' files.

    quick: of links that are alike the first one only. A trial lasts as long as otherwise: in a shorter one late senders
    would still be in slow start.
    """
    every = [link for link in KINDS.values() if not (quick and link.name in ALIKE)]
    chosen = [_link(name, duration_s) for name in names] if names else every
    known: dict[str, Link] = {}
    for link in chosen:
        if link.name in known:
            raise field_error(COMMAND_LINE, "links", link.name, "a link that is named once")
        known[link.name] = link
    return tuple(known.values())


def _link(name: str, duration_s: int | None) -> Link:
    if name in KINDS:
        return KINDS[name]
    if Path(name).suffix != ".yml" and name not in profile_files():
        known = suggested(name, (*KINDS, *profile_files()))
        raise field_error(COMMAND_LINE, "links", name, f"a kind of link or a profile: {known}")
    same = next((link for link in KINDS.values() if link.profile == name and not link.rival), None)
    return same or Link(
        require_name(Path(name).stem, COMMAND_LINE), name, PROFILE_S if duration_s is None else duration_s
    )
