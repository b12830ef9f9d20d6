# SPDX-License-Identifier: GPL-2.0-or-later
"""What the lab's own qdiscs are told and report, as in lab/kernel/qdisc/netlink_words.h."""

import struct
from collections.abc import Sequence

from lab.node.netlink import attribute

Settings = dict[str, tuple[int, str]]  # name -> number of its attribute, struct code
NOT_TOLD = 2**64 - 1
START_NS, STEPS, END_NS, BEHIND_SERIES = 2, 3, 4, 5
SERIES_STATE = (
    " Q start_ns Q end_ns Q consumed_steps Q past_end_ns I held_steps I room_steps I underruns 4x pad"  # at the end
)


def options(settings: Settings, values: dict[str, int]) -> bytes:
    """Word every setting of a kind."""
    return b"".join(
        attribute(number, struct.pack(f"={code}", values[name])) for name, (number, code) in settings.items()
    )


def chunk(
    step: struct.Struct, steps: Sequence[tuple[int, ...]], start_ns: int | None = None, end_ns: int | None = None
) -> bytes:
    """Word more of a series: steps of (ns since the start, values), its start when it is told, its end when it is."""
    told = attribute(STEPS, b"".join(step.pack(*values) for values in steps)) if steps else b""
    for number, value in ((START_NS, start_ns), (END_NS, end_ns)):
        told += attribute(number, struct.pack("=Q", value)) if value is not None else b""
    return told


class State:
    """The struct in which a kind reports: `code name` for each field, in order; x for padding."""

    def __init__(self, fields: str) -> None:
        codes, names = fields.split()[::2], fields.split()[1::2]
        self.layout = struct.Struct("=" + "".join(codes))
        self.names = [name for code, name in zip(codes, names, strict=True) if "x" not in code]

    def numbers(self, data: bytes) -> dict[str, int]:
        """Read all that was reported."""
        return dict(zip(self.names, self.layout.unpack(data), strict=True))

    def counted(self, data: bytes, settings: Settings) -> dict[str, int | None]:
        """Read what it counted: all but its settings; what it was not told yet is None."""
        found = self.numbers(data).items()
        return {name: None if value == NOT_TOLD else value for name, value in found if name not in settings}
