# SPDX-License-Identifier: GPL-2.0-or-later
"""The syntax that maps columns: `rate_down_mbps=DL_bitrate [kbit/s]`."""

import re
from dataclasses import dataclass
from pathlib import Path

from lab.base.errors import field_error
from lab.traces.columns import DTYPES

TIME_MS = {"s": 1e3, "ms": 1.0, "us": 1e-3, "ns": 1e-6}
BITS_MBPS = {"bit/s": 1e-6, "kbit/s": 1e-3, "Mbit/s": 1.0, "Gbit/s": 1e3}
BYTES_MBPS = {"B/s": 8e-6, "kB/s": 8e-3, "MB/s": 8.0}
CLOCKS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
UNITS: dict[str, dict[str, float]] = {
    "t_s": CLOCKS,
    "rate_down_mbps": BITS_MBPS | BYTES_MBPS,
    "rate_up_mbps": BITS_MBPS | BYTES_MBPS,
    "rtt_ms": TIME_MS,
    "delay_ms": TIME_MS,
    "loss_pct": {"%": 1.0, "share": 100.0},
    "retransmits_pkts": {},
    "lost": {},
}
OWN = {
    "t_s": "s",
    "rate_down_mbps": "Mbit/s",
    "rate_up_mbps": "Mbit/s",
    "rtt_ms": "ms",
    "delay_ms": "ms",
    "loss_pct": "%",
}
PART = re.compile(r"^(?P<becomes>\w+)=(?P<name>[^\[\]]+?)(?: *\[(?P<unit>[^\]]*)\])?$")
DATES = ("date", "%")  # a date of ISO 8601; or a form such as %Y.%m.%d_%H.%M.%S


@dataclass(frozen=True)
class ColumnSpec:
    """A column of the file, and what it becomes."""

    becomes: str
    name: str
    unit: str  # "" where none can be
    scale: float | None  # from the file's unit to the recording's; None for dates and flags
    form: str | None  # of dates


def parse_columns(file: Path, text: str) -> list[ColumnSpec]:
    """Read a list of columns; UserError names the first that is wrong."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    found = [_parse(file, part) for part in parts]
    becomes = [one.becomes for one in found]
    if not found or len(set(becomes)) < len(becomes):
        raise field_error(file, "columns", text, "a list that names each column of a recording once")
    return found


def check_unit(file: Path, one: ColumnSpec) -> None:
    """Refuse a date where a number must be."""
    if one.form is not None:
        raise field_error(file, "columns", f"{one.becomes} [{one.unit}]", f"in one of {', '.join(UNITS[one.becomes])}")


def _parse(file: Path, part: str) -> ColumnSpec:
    match = PART.match(part)
    if match is None:
        raise field_error(file, "columns", part, "like rate_down_mbps=DL_bitrate [kbit/s]")
    becomes, name = match["becomes"], match["name"].strip()
    if becomes not in UNITS:
        raise field_error(file, "columns", becomes, f"one of {', '.join(name for name in DTYPES if name in UNITS)}")
    unit = match["unit"] if match["unit"] is not None else OWN.get(becomes, "")
    if becomes == "t_s" and unit.startswith(DATES):
        return ColumnSpec(becomes, name, unit, None, None if unit == "date" else unit)
    if unit not in UNITS[becomes] and (unit or UNITS[becomes]):
        known = ", ".join([*UNITS[becomes], *(["date", "a form of %Y, %m ..."] if becomes == "t_s" else [])])
        raise field_error(file, "columns", f"{becomes} [{unit}]", f"in one of {known or 'no unit'}")
    return ColumnSpec(becomes, name, unit, UNITS[becomes].get(unit), None)
