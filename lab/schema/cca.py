# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders: one stanza of cca.yml each."""

from typing import Annotated

from pydantic import Field

from lab.paths import CCAS
from lab.schema.load import Strict, choose, parse, read_yaml

Colour = Annotated[str, Field(pattern=r"^#[0-9A-Fa-f]{6}$")]


class Cca(Strict):
    """A congestion control, how to get it into the kernel, and how it is drawn everywhere."""

    name: str
    label: Annotated[str, Field(min_length=1)]
    algorithm: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,15}$")]  # the kernel's TCP_CA_NAME_MAX is 16
    module: str | None = None
    params: dict[str, int] = {}
    tells_exit: bool = False
    slow_start_exit: Annotated[str, Field(pattern="^(search|hystart|bbr|loss)$")]
    colour: Colour
    marker: str
    linestyle: str


def load_ccas() -> dict[str, Cca]:
    """Read every stanza of cca.yml, by name."""
    stanzas = read_yaml(CCAS)
    return {name: parse(Cca, {"name": name, **stanza}, CCAS) for name, stanza in stanzas.items()}


def load_cca(name: str, asked_in: str, field: str) -> Cca:
    """Read one sender that a file asks for."""
    known = load_ccas()
    return known[choose("sender of lab/cca.yml", name, sorted(known), asked_in, field)]
