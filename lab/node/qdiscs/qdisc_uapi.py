# SPDX-License-Identifier: GPL-2.0-or-later
"""Netlink options and state of qdiscs; those of the lab's own as in lab/kernel/qdisc/uapi.h."""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from lab.node.net.netlink import TCA_OPTIONS, TCA_STATS2, TCA_STATS_APP, attribute, attributes
from lab.node.qdiscs.qdisc_kind import Attribute, NetlinkKind, Spec, State

UNSET = 2**64 - 1
START_NS, STEPS, END_NS, BEHIND_SERIES = 2, 3, 4, 5
SERIES_STATE = (
    " Q start_ns Q end_ns Q consumed_steps Q past_end_ns I held_steps I room_steps I underruns 4x pad"  # at the end
)


def options(kind: NetlinkKind, spec: Spec, origin_ns: int = 0) -> bytes:
    """Encode every setting of a kind, and the origin of its clock where it has one."""
    origin = attribute(kind.origin, struct.pack("=Q", origin_ns)) if kind.origin and origin_ns else b""
    return origin + b"".join(_encoded(row, spec[row.name]) for row in kind.settings)


def _encoded(row: Attribute, value: Any) -> bytes:
    packed = struct.pack(f"={row.code}", row.encode(value) if row.encode else value)
    return attribute(row.number, packed) if row.number else packed


def settings(kind: NetlinkKind, shown: Mapping[int, bytes]) -> Spec:
    """Decode the settings that a qdisc shows."""
    if not kind.state:
        data = shown[TCA_OPTIONS]
        found = {**attributes(data), 0: data}
        return {row.name: struct.unpack_from(f"={row.code}", found[row.number])[0] for row in kind.settings}
    state = _state(kind.state, shown)
    values = [(row, state[row.reported or row.name]) for row in kind.settings]
    return {row.name: row.decode(value) if row.decode else value for row, value in values}


def statistics(kind: NetlinkKind, shown: Mapping[int, bytes]) -> dict[str, int | None]:
    """Decode what a qdisc counted: all but its settings; None where the kernel has no value yet."""
    assert kind.state
    own = {row.reported or row.name for row in kind.settings}
    found = _state(kind.state, shown).items()
    return {name: None if value == UNSET else value for name, value in found if name not in own}


def _state(state: State, shown: Mapping[int, bytes]) -> dict[str, int]:
    return state.numbers(attributes(shown[TCA_STATS2])[TCA_STATS_APP])


def chunk(
    step: struct.Struct, steps: Sequence[tuple[int, ...]], start_ns: int | None = None, end_ns: int | None = None
) -> bytes:
    """Encode more of a series: steps of (ns since the start, values), its start and its end where they are given."""
    encoded = attribute(STEPS, b"".join(step.pack(*values) for values in steps)) if steps else b""
    for number, value in ((START_NS, start_ns), (END_NS, end_ns)):
        encoded += attribute(number, struct.pack("=Q", value)) if value is not None else b""
    return encoded
