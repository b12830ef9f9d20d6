# SPDX-License-Identifier: GPL-2.0-or-later
"""What the lab's own qdiscs are told and report, as in lab/kernel/qdisc/netlink_words.h."""

import struct

from lab.node.netlink import attribute

Settings = dict[str, tuple[int, str]]  # name -> number of its attribute, struct code
NOT_TOLD = 2**64 - 1


def options(settings: Settings, values: dict[str, int]) -> bytes:
    """Word every setting of a kind."""
    return b"".join(
        attribute(number, struct.pack(f"={code}", values[name])) for name, (number, code) in settings.items()
    )


class State:
    """The struct in which a kind reports: `code name` for each field, in order; x for padding."""

    def __init__(self, fields: str) -> None:
        codes, names = fields.split()[::2], fields.split()[1::2]
        self.layout = struct.Struct("=" + "".join(codes))
        self.names = [name for code, name in zip(codes, names, strict=True) if "x" not in code]

    def numbers(self, data: bytes) -> dict[str, int]:
        """Read all that was reported."""
        return dict(zip(self.names, self.layout.unpack(data), strict=True))
