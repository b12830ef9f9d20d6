# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders: one stanza of cca.yml each."""

from collections.abc import Iterator
from itertools import count
from typing import Annotated, Any, Literal

from pydantic import Field

from lab.base.errors import field_error
from lab.base.paths import CCAS
from lab.schema.load import Strict, choose, parse, read_yaml, shown

# What ends a sender's slow start when no loss does.
RULES = {
    "search": "SEARCH: delivered bytes stop doubling",
    "hystart": "HyStart: the round trip grows by an eighth, or a train of ACKs spans half of it",
    "hystartpp": "HyStart++ (RFC 9406): the round trip grows by an eighth, and five rounds of slower growth confirm it",
    "bbr": "BBR's own state: STARTUP is left once bandwidth grew by less than a quarter in three rounds",
    "vegas": "more than a packet queued, by the round trip's growth over its least",
    "yeah": "more than 80 packets queued, by the round trip's growth over its least",
    "nv": "the window is more than the measured rate fills",
    "cdg": "HyStart, or a back-off at random by the gradient of the round trip",
    "ecn": "a mark of explicit congestion notification",
    "loss": "nothing but loss",
}
Rule = Literal["search", "hystart", "hystartpp", "bbr", "vegas", "yeah", "nv", "cdg", "ecn", "loss"]
Colour = Annotated[str, Field(pattern=r"^#[0-9A-Fa-f]{6}$")]
SysctlName = Annotated[str, Field(pattern=r"^net\.ipv4\.[a-z0-9_]+$")]

# Looks for stanzas that bring none: colours of Okabe and Ito, and a marker and line style that no other sender has.
COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#000000")
MARKERS = ("v", "<", ">", "p", "P", "X", "d", "h", "*")
LINESTYLES = ("-", "--", "-.", ":")


class Cca(Strict):
    """A congestion control, how to get it into the kernel, and how it is drawn everywhere."""

    name: str
    label: Annotated[str, Field(min_length=1)]
    algorithm: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,15}$")]  # the kernel's TCP_CA_NAME_MAX is 16
    module: str | None = None
    params: dict[str, int] = {}
    allocates_bytes: Annotated[int, Field(ge=0)] = 0
    sysctls: dict[SysctlName, str] = {}
    qdisc: Literal["fq"] | None = None
    tells_exit: bool = False
    slow_start_exit: Rule
    colour: Colour
    marker: str
    linestyle: str


def load_ccas() -> dict[str, Cca]:
    """Read every stanza of cca.yml, by name; no two look alike."""
    looks = _looks()
    stanzas = read_yaml(CCAS)
    ccas = {}
    for name, stanza in stanzas.items():
        look = {} if "marker" in stanza else next(looks)
        ccas[name] = parse(Cca, {"name": name, **look, **stanza}, CCAS)
    _refuse_likeness(ccas)
    return ccas


def _looks() -> Iterator[dict[str, Any]]:
    """Word one look after the other: the marker changes each time, the line style when the markers are used up."""
    for number in count():
        yield {
            "colour": COLOURS[number % len(COLOURS)],
            "marker": MARKERS[number % len(MARKERS)],
            "linestyle": LINESTYLES[number // len(MARKERS) % len(LINESTYLES)],
        }


def _refuse_likeness(ccas: dict[str, Cca]) -> None:
    seen: dict[tuple[str, str], str] = {}
    for name, cca in ccas.items():
        like = seen.setdefault((cca.marker, cca.linestyle), name)
        if like != name:
            rule = f"another marker or line style: {like} has the same"
            raise field_error(shown(CCAS), f"{name}.marker", cca.marker, rule)


def load_cca(name: str, asked_in: str, field: str) -> Cca:
    """Read one sender that a file asks for."""
    known = load_ccas()
    return known[choose("sender of lab/cca.yml", name, sorted(known), asked_in, field)]
