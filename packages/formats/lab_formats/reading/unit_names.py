# SPDX-License-Identifier: GPL-2.0-or-later
"""The units that a column's name in a file shows, wherever in the name and however it is written."""

import re
from collections.abc import Iterator

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
        yield f"{letter}bit/s"
    if not bits or unclear:
        yield f"{letter.upper()}iB/s" if binary else f"{letter}B/s"
    if match["long"] and not bits and letter and not binary:  # iperf's MBytes are of 2^20
        yield f"{letter.upper()}iB/s"
    if match["bare"] or (match["long"] and not match["per"]):
        yield f"{letter}bit/interval" if bits else f"{letter}B/interval"


def _time(match: re.Match[str]) -> str:
    part = (match["part"] or match["short"] or "").lower()
    return {"": "s", "mil": "ms", "m": "ms", "mic": "us", "u": "us", "nan": "ns", "n": "ns"}[part[:3]]
