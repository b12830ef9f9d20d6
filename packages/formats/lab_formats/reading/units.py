# SPDX-License-Identifier: GPL-2.0-or-later
"""The syntax that maps columns, `rate_down_mbps=DL_bitrate [kbit/s]`, and the units that a column's name shows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.base.errors import field_error

BEGIN, END = r"(?:(?<![A-Za-z])|(?<=[a-z])(?=[A-Z]))", r"(?:(?![A-Za-z])|(?<=[a-z])(?=[A-Z]))"  # dlKbps has two words
PER_SECOND = r"(?i:ps|/ ?s(?:ec)?(?:onds?)?|[ _]?per[ _]?s(?:ec)?(?:onds?)?)"
RATE = re.compile(
    rf"(?:{BEGIN}|(?=[kmg]?bps))(?P<scale>(?i:kilo|mega|giga|[kmg]i?)?)"
    rf"(?:(?P<short>[bB])(?:{PER_SECOND}|_s)|(?<=[kKMGi])(?P<bare>[bB])"
    rf"|(?P<long>(?i:bit|byte))(?i:s?)(?P<per>{PER_SECOND})?){END}"
)
SECONDS = r"(?:(?P<part>(?i:milli|micro|nano|[mun]))(?i:s|secs?|seconds?)|(?P<short>(?i:millis|micros|nanos))|"
SECONDS += r"(?P<whole>(?<![A-Za-z'])[sS]|(?i:secs?|seconds?)))"
TIME = re.compile(BEGIN + SECONDS + END)
MINUTES, HOURS = r"(?P<min>(?i:min(?:ute)?s?))", r"(?P<h>(?<![A-Za-z])h|(?i:hrs?|hours?))"
LONGER = re.compile(rf"{BEGIN}(?:{MINUTES}|{HOURS}|(?P<day>(?i:days))){END}")
SHARE = re.compile(rf"{BEGIN}(?i:share|ratio|fraction|frac|prob|probability|proportion){END}")
PERCENT = re.compile(r"%|(?i:pct|perc|percent|percentage|prozent)")
LETTERS = {"": "", "k": "k", "m": "M", "g": "G"}
TIME_MS = {"s": 1e3, "ms": 1.0, "us": 1e-3, "ns": 1e-6}
BITS_MBPS = {"bit/s": 1e-6, "kbit/s": 1e-3, "Mbit/s": 1.0, "Gbit/s": 1e3}
BYTES_MBPS = {"B/s": 8e-6, "kB/s": 8e-3, "MB/s": 8.0, "GB/s": 8e3}
BINARY_MBPS = {"Kibit/s": 1.024e-3, "Mibit/s": 1.048576, "Gibit/s": 1073.741824}
BINARY_MBPS |= {"KiB/s": 8.192e-3, "MiB/s": 8.388608, "GiB/s": 8589.934592}
SHORT = {"": "bit/s", "k": "kbit/s", "K": "kbit/s", "M": "Mbit/s", "G": "Gbit/s"}  # as in Mbps and Mb/s
PER_INTERVAL = {  # in Mb; how long the interval is, the row or its clock states
    "bit/interval": 1e-6,
    "kbit/interval": 1e-3,
    "Mbit/interval": 1.0,
    "B/interval": 8e-6,
    "kB/interval": 8e-3,
    "MB/interval": 8.0,
}
RATES = BITS_MBPS | BYTES_MBPS | BINARY_MBPS | PER_INTERVAL
CLOCKS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0, "day": 86_400.0}
RATE_COLUMNS = ("rate_down_mbps", "rate_up_mbps")
OWN = {
    "t_s": "s",
    "duration_s": "s",
    "rate_down_mbps": "Mbit/s",
    "rate_up_mbps": "Mbit/s",
    "rtt_ms": "ms",
    "delay_ms": "ms",
    "loss_pct": "%",
}
PART = re.compile(r"^(?P<becomes>\w+)=(?P<name>[^\[\]]+(?:\[[^\]]*\][^\[\]]+)*?)(?: *\[(?P<unit>[^\]]*)\])?$")
DATES = ("date", "%", "hh:mm", "mm:ss")  # ISO 8601; a form such as %Y.%m.%d_%H.%M.%S; a time of day or since a start


def shown_units(becomes: str, name: str) -> list[str]:
    """Return the units that a name may show of what a column becomes: none, one, or several where it is not clear."""
    plain = name.replace("\N{MICRO SIGN}", "u").replace("\N{GREEK SMALL LETTER MU}", "u")
    if becomes.startswith("rate_"):
        return [unit for match in list(RATE.finditer(plain))[-1:] for unit in _rates(match)]
    if becomes == "loss_pct":
        return ["%"] * bool(PERCENT.search(plain)) or ["share"] * bool(SHARE.search(plain))
    if becomes in ("t_s", "duration_s") and (longer := LONGER.search(plain)):
        return [str(longer.lastgroup)]
    return [_time(match) for match in list(TIME.finditer(plain))[-1:]]


def _rates(match: re.Match[str]) -> Iterator[str]:
    """Yield the units of rates or amounts that a word may be; capitals alone do not tell bits from bytes."""
    scale, sign = match["scale"], match["short"] or match["bare"]
    letter, binary = LETTERS[scale[:1].lower()], scale[1:] in ("i", "I")
    of_camel = match["short"] == "B" and not scale and match.start() and match.string[match.start() - 1].isalpha()
    unclear = bool(sign) and (match[0].isupper() or of_camel)
    bits = sign == "b" or (match["long"] or "").lower() == "bit"
    if bits or unclear:
        yield f"{letter.upper()}ibit/s" if binary else f"{letter}bit/s"
    if not bits or unclear:
        yield f"{letter.upper()}iB/s" if binary else f"{letter}B/s"
    if match["long"] and not bits and letter and not binary:  # iperf's MBytes are of 2^20
        yield f"{letter.upper()}iB/s"
    if match["bare"] or (match["long"] and not match["per"]):
        yield f"{letter}bit/interval" if bits else f"{letter}B/interval"


def _time(match: re.Match[str]) -> str:
    part = (match["part"] or match["short"] or "").lower()
    return {"": "s", "mil": "ms", "m": "ms", "mic": "us", "u": "us", "nan": "ns", "n": "ns"}[part[:3]]


ALIASES = {f"{scale}{word}": unit for scale, unit in SHORT.items() for word in ("bps", "b/s", "bit/s", "bits/s")}
UNITS: dict[str, dict[str, float]] = {
    "t_s": CLOCKS,
    "rate_down_mbps": RATES,
    "rate_up_mbps": RATES,
    "rtt_ms": TIME_MS,
    "delay_ms": TIME_MS,
    "loss_pct": {"%": 1.0, "share": 100.0},
    "retransmits_pkts": {},
    "lost": {},
    "duration_s": CLOCKS,  # of a row's interval: no column of a recording, but its clock's
}


@dataclass(frozen=True)
class ColumnSpec:
    """A column of the file, and what it becomes."""

    becomes: str
    name: str
    unit: str  # "" where none can be
    scale: float | None  # from the file's unit to the recording's; None for dates and flags
    form: str | None  # of dates
    stated: bool = True  # whether the options or its name state its unit


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


def _own_unit(file: Path, becomes: str, name: str) -> tuple[str, bool]:
    """Return the unit of a recording's column, and whether the name shows it; UserError where it shows another one."""
    own, known = OWN.get(becomes, ""), UNITS[becomes]
    shown = [unit for unit in shown_units(becomes, name) if unit in known]
    if any(known[unit] != known[own] or unit in PER_INTERVAL for unit in shown):
        units = " or ".join(f"[{unit}]" for unit in shown)
        rule = f"given with its unit, as {becomes}={name} {units}: without one it is in {own}"
        raise field_error(file, "columns", f"{becomes}={name}", rule)
    return own, bool(shown) or not own


def _form(file: Path, unit: str) -> str:
    """Return a form as chrono has it, where Python's %f would be nanoseconds, and %Z anything."""
    form = unit.replace(".%f", "%.f")
    if "%Z" in form:
        rule = "a form with %z, or with the zone's own letters: what names of zones mean is not known"
        raise field_error(file, "columns", f"[{unit}]", rule)
    if "%f" in form:
        raise field_error(
            file, "columns", f"[{unit}]", "a form with %.f for a fraction with its point, else %3f or %6f"
        )
    return form


def _parse(file: Path, part: str) -> ColumnSpec:
    match = PART.match(part)
    if match is None:
        raise field_error(file, "columns", part, "like rate_down_mbps=DL_bitrate [kbit/s]")
    becomes, name = match["becomes"], match["name"].strip()
    if becomes not in UNITS:
        raise field_error(file, "columns", becomes, f"one of {', '.join(UNITS)}")
    unit, stated = (match["unit"], True) if match["unit"] is not None else _own_unit(file, becomes, name)
    scale = UNITS[becomes].get(ALIASES.get(unit, unit) if becomes in RATE_COLUMNS else unit)
    if becomes == "t_s" and unit.startswith(DATES):
        unit = _form(file, unit)
        return ColumnSpec(becomes, name, unit, None, None if unit == "date" else unit)
    if scale is None and (unit or UNITS[becomes]):
        known = ", ".join(
            [
                *UNITS[becomes],
                *(["date", "hh:mm:ss", "hh:mm", "mm:ss", "a form of %Y, %m ..."] if becomes == "t_s" else []),
            ]
        )
        raise field_error(file, "columns", f"{becomes} [{unit}]", f"in one of {known or 'no unit'}")
    return ColumnSpec(becomes, name, unit, scale, None, stated)
