# SPDX-License-Identifier: GPL-2.0-or-later
"""How trials differ from the reference: line by line, up to the first packet that is another one."""

from collections.abc import Iterator

import polars as pl

from lab.backends.backend import Description
from lab_papers.same.reference import BLOCK_PKTS, Reference, TrialReference, Values

Packet = dict[str, object]
MOST_PACKAGES = 10  # named of a world that differs


def difference(name: str, values: Values, reference: Reference) -> list[str]:
    """Return the lines that describe how a trial differs; none where it is the same."""
    stored = reference.content["trials"].get(name)
    if stored is None:
        return ["not in the reference"]
    tables = [table for table in values.tables if values.tables[table] != stored["tables"].get(table)]
    if not tables:
        return []
    return [", ".join(tables), *_first_packet(values, stored, reference.first_packets(name))]


def surroundings(description: Description, reference: Reference) -> Iterator[str]:
    """Describe what differs in kernel, modules and world."""
    stored = reference.content
    found = {**description.kernel, "world": description.packages_digest}
    expected = {**stored["kernel"], "world": stored["world"]}
    for name in found | expected:
        if found.get(name) != expected.get(name):
            yield f"{name}: here {found.get(name)}, reference {expected.get(name)}"
    packages = description.packages
    names = sorted(packages | stored["packages"])
    others = [name for name in names if packages.get(name) != stored["packages"].get(name)]
    for name in others[:MOST_PACKAGES]:
        yield f"package {name}: here {packages.get(name)}, reference {stored['packages'].get(name)}"
    if len(others) > MOST_PACKAGES:
        yield f"and {len(others) - MOST_PACKAGES} other packages"


def _first_packet(values: Values, stored: TrialReference, first: pl.DataFrame) -> list[str]:
    """Return the first packet that differs, here and in the reference."""
    if values.tables["packets"] == stored["tables"].get("packets"):
        return []
    here = values.first.rows(named=True)
    there = first.rows(named=True)
    for number in range(max(len(here), len(there))):
        pair = [rows[number] if number < len(rows) else None for rows in (here, there)]
        if pair[0] != pair[1]:
            return _both(number, pair[0], pair[1])
    return [_first_block(values.blocks, stored["blocks"])]


def _both(number: int, here: Packet | None, there: Packet | None) -> list[str]:
    names = [name for name in here or there or {} if here is None or there is None or here[name] != there.get(name)]
    return [
        f"packet {number + 1} differs in {', '.join(names)}",
        f"  here       {_line(here)}",
        f"  reference  {_line(there)}",
    ]


def _line(packet: Packet | None) -> str:
    """Format a packet; None: a trial that has ended before."""
    return " ".join(f"{name}={value}" for name, value in packet.items()) if packet else "no such packet"


def _first_block(here: list[str], there: list[str]) -> str:
    """Name the packets among which the first one differs, behind those that the reference holds."""
    same = next((at for at, pair in enumerate(zip(here, there, strict=False)) if pair[0] != pair[1]), None)
    block = min(len(here), len(there)) if same is None else same
    return f"the first packet that differs is one of {block * BLOCK_PKTS + 1} to {(block + 1) * BLOCK_PKTS}"
