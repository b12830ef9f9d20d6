# SPDX-License-Identifier: GPL-2.0-or-later
"""What defines a kind of qdisc: one table, from which its command, its read-back and a profile's fields follow.

A spec is a dict with `kind`, and values whose names carry the unit. A command states every value: tc resets what a
change leaves out (netem's limit to 1000, its loss and rate to 0).
"""

import math
from collections.abc import Callable, Mapping
from struct import Struct
from typing import Any, NamedTuple

from lab.node.qdiscs.series import Line

Spec = dict[str, Any]
Values = Mapping[str, Any]  # of a profile's fields
Options = Mapping[str, Any]  # as `tc -j` shows them
REQUIRED = object()  # where `tc -j` leaves a key out: a failure
FRAME_BYTES = 1514  # a full Ethernet frame, without its checksum

PACKETS = {"ge": 1, "lt": 2**31}
MILLISECONDS = {"ge": 0.001, "le": 60_000}  # tc counts microseconds, in 32 bits
SHARE = {"gt": 0, "le": 1}
PPM_PER_PCT = 10_000


class Bottleneck(NamedTuple):
    """The properties of a bottleneck that its queue depends on."""

    buffer_bytes: int
    rate_bps: float
    seed: int
    frame_bytes: int = FRAME_BYTES  # the largest that passes


def wire_bytes(frame_bytes: int) -> int:
    """Return the largest frame of wires that carry this one: an end may send smaller ones than they could."""
    return max(FRAME_BYTES, frame_bytes)


class Field(NamedTuple):
    """A field of a profile's queue: it must be given where it has no default, and may be null where it is optional."""

    name: str
    type: type  # bool, int or float
    default: float | None = None
    bounds: Mapping[str, Any] = {}  # ge, gt, le, lt
    optional: bool = False


Source = Callable[[Values, Bottleneck], Any]  # of a spec's value


class Setting(NamedTuple):
    """A value of a spec for tc: how tc's command states it, whether `tc -j` shows it, and which field it comes from."""

    name: str
    tc: str
    unit: str = ""
    is_shown: bool = True  # by `tc -j`, under tc's name
    absent: object = REQUIRED
    field: Field | None = None
    value: Source | None = None  # None: the field's value
    format: Callable[[Any], list[str]] | None = None
    slack: Callable[[Spec], float] | None = None  # by how much the kernel's own units round it
    once: bool = False  # stated when the qdisc is made, and not at a change

    def arguments(self, value: Any) -> list[str]:
        """Format the value for tc's command."""
        return self.format(value) if self.format else [self.tc, f"{value}{self.unit}"]

    def shown(self, options: Options) -> Any:
        """Return the value that `tc -j` shows."""
        return options[self.tc] if self.absent is REQUIRED else options.get(self.tc, self.absent)


class Attribute(NamedTuple):
    """A value of a spec for netlink: its attribute, and its place in the state that the lab's own qdiscs report."""

    name: str
    number: int  # 0: the options are this value alone
    code: str  # of struct
    reported: str = ""  # its name in the state; "": the same
    encode: Callable[[Any], int] | None = None
    decode: Callable[[int], Any] | None = None
    field: Field | None = None
    value: Source | None = None


class Rule(NamedTuple):
    """What a queue's fields must fulfil together."""

    text: str
    holds: Callable[[Values], bool]


class Followed(NamedTuple):
    """How a kind gets the series that it follows (lab/node/qdiscs/series.py)."""

    step: Struct  # ns since the start, then what `values` returns
    values: Callable[[Line], tuple[int, ...]]  # of a line of the file


class Encoded(NamedTuple):
    """How netlink states the struct of a kind, and reports it: a process of tc takes as long as 1000 packets."""

    options: Callable[[Spec], bytes]
    settings: Callable[[bytes], Spec]


class TcKind(NamedTuple):
    """A kind that tc knows."""

    settings: tuple[Setting, ...]
    queue: str = ""  # in one sentence, where a profile may choose it as its bottleneck's queue
    rules: tuple[Rule, ...] = ()
    buffer_rules: tuple[Rule, ...] = ()  # of the fields, and of a trial's buffer_bytes and frame_bytes
    switches: tuple[str, ...] = ()  # stated as they are, before the settings
    details: bool = False  # whether tc shows all of it with -d only (which spoils the numbers of other kinds)
    built_in: bool = False  # part of every kernel; otherwise its module is sch_<kind>
    drops_at_head: bool = False  # what it drops are the oldest packets of a queue
    clock_s: float = math.inf  # since a kernel's boot, until which it drops as it does at first
    encoded: Encoded | None = None  # None: tc makes it


class NetlinkKind(NamedTuple):
    """A kind of which every option is an attribute: of the lab's own (lab/kernel/qdisc/), or a plain one of Linux."""

    settings: tuple[Attribute, ...]
    state: "State | None" = None  # None: it reports its options as they are stated
    queue: str = ""
    rules: tuple[Rule, ...] = ()
    buffer_rules: tuple[Rule, ...] = ()
    followed: Followed | None = None
    built_in: bool = False
    origin: int | None = None  # the attribute for the begin of its own clock, by default the kernel's boot


Kind = TcKind | NetlinkKind


class State:
    """The struct in which a kind reports: `code name` for each field, in order; x is padding."""

    def __init__(self, fields: str) -> None:
        codes, names = fields.split()[::2], fields.split()[1::2]
        self.layout = Struct("=" + "".join(codes))
        self.names = [name for code, name in zip(codes, names, strict=True) if "x" not in code]

    def numbers(self, data: bytes) -> dict[str, int]:
        """Read all that was reported."""
        return dict(zip(self.names, self.layout.unpack(data), strict=True))


def spec_of(name: str, kind: Kind, values: Values, at: Bottleneck) -> Spec:
    """Return the spec of a queue from the fields of a profile."""
    spec: Spec = {"kind": name}
    for setting in kind.settings:
        assert setting.value or setting.field, setting.name
        spec[setting.name] = setting.value(values, at) if setting.value else values[setting.field.name]  # type: ignore[union-attr]
    return spec


WHOLE_FRAMES = Setting(  # the limit of a queue that the kernel counts in packets: the full frames of the buffer
    "limit_pkts",
    "limit",
    field=Field("limit_pkts", int, None, PACKETS, optional=True),  # fewer of them (lab/links/draw.py)
    value=lambda _, at: at.buffer_bytes // at.frame_bytes,
)


def percent(name: str, number: int, bounds: Mapping[str, Any], default: float | None = None) -> Attribute:
    """Define a share in per cent, which the lab's own kinds count in millionths."""
    return Attribute(
        f"{name}_pct",
        number,
        "I",
        f"{name}_ppm",
        encode=lambda pct: round(pct * PPM_PER_PCT),
        decode=lambda ppm: ppm / PPM_PER_PCT,
        field=Field(f"{name}_pct", float, default, {**bounds, "multiple_of": 1 / PPM_PER_PCT}),
    )


def duration(tc: str, default_ms: float, slack_us: float = 0, bounds: Mapping[str, Any] = MILLISECONDS) -> Setting:
    """Define a time: a field in ms, a spec's value in us."""
    name = f"{tc}_ms"
    return Setting(
        f"{tc}_us",
        tc,
        "us",
        field=Field(name, float, default_ms, bounds),
        value=lambda values, _: round(values[name] * 1e3),
        slack=lambda _: slack_us,
    )


CODEL_SLACK_US = 2.0  # CoDel and PIE keep times in units of 1.024 us


def switch(tc: str, field: Field | None = None, value: Source | None = None) -> Setting:
    """Define a switch of tc, `ecn` or `noecn`, which `tc -j` shows where it is on."""
    return Setting(tc, tc, absent=False, field=field, value=value, format=lambda on: [tc if on else f"no{tc}"])


ECN = switch("ecn", Field("ecn", bool, False))


FULL_FRAME_MEMORY_BYTES = 2304  # what the kernel takes for a full frame, of a packet's data and its description
HOLDS_A_FRAME = Rule(
    f"one with a buffer of at least {FULL_FRAME_MEMORY_BYTES} bytes: it counts memory, and a full frame takes these",
    lambda values: values["buffer_bytes"] >= FULL_FRAME_MEMORY_BYTES or values["frame_bytes"] < FRAME_BYTES,
)


def constant(value: Any) -> Source:
    """Return a source of the same value for every profile."""
    return lambda _values, _at: value


def buffer_bytes(_values: Values, at: Bottleneck) -> int:
    """Return the buffer of the bottleneck."""
    return at.buffer_bytes


def share_of_buffer(name: str) -> Source:
    """Return a source of bytes from a field that is a share of the buffer."""
    return lambda values, at: round(values[name] * at.buffer_bytes)
