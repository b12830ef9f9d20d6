# SPDX-License-Identifier: GPL-2.0-or-later
"""Format numbers: a mean with its deviation, a share with its interval, a dash for a missing value."""

import math
from collections.abc import Mapping
from typing import Any

NONE = "\N{EN DASH}"
AT_LEAST = "\N{GREATER-THAN OR EQUAL TO}"
FEW = 20  # trials: below it one trial is more than 5 %, so a share is a count


def share(row: Mapping[str, Any], name: str) -> str:
    """Format a share in percent, or as a count of few trials, with its interval where the row has one."""
    low, high = row.get(f"{name}_lo_pct"), row.get(f"{name}_hi_pct")
    interval = "" if low is None or high is None else f" [{low:.0f}{NONE}{high:.0f}]"
    value, judged = row.get(f"{name}_pct"), row.get("judged")
    if value is not None and judged and judged < FEW:
        return f"{round(value * judged / 100)} of {judged:.0f}{interval}"
    return number(value, 1) + interval


def few(hits: int, trials: int) -> str:
    """Format a share as a percentage, or as a count of few trials."""
    return f"{hits} of {trials}" if trials < FEW else f"{100 * hits / trials:.0f} %"


def trials_text(count: int) -> str:
    """Name a number of trials."""
    return counted(count, "trial")


def counted(count: int, name: str) -> str:
    """Name a number of things; `name` is that of one."""
    return f"1 {name}" if count == 1 else f"{count} {name}s"


def mean(row: Mapping[str, Any], name: str, digits: int) -> str:
    """Format a mean, with its standard deviation where the row has one: with a decimal more where that shows it."""
    value, spread = row.get(name), row.get(f"{name}_sd")
    places = digits if value is None else _places(value, digits)
    if spread is None:
        return number(value, places)
    more = round(spread, places) == 0 != round(spread, places + 1)
    return f"{number(value, places)} ({number(spread, places + more)})"


def significant(value: float | None, digits: int) -> str:
    """Format a number with `digits` decimals, and with more where below 1 they would hide its first two digits."""
    return NONE if value is None else number(value, _places(value, digits))


def _places(value: float, digits: int) -> int:
    """Return the fewest decimals, at least `digits`, that show the first two digits of what is below 1."""
    if not 1e-9 <= abs(value) < 1:
        return digits
    most = max(digits, 1 - math.floor(math.log10(abs(value))))
    return next(few for few in range(digits, most + 1) if round(value, few) == round(value, most))


def number(value: float | None, digits: int) -> str:
    """Format a number with `digits` decimals, or the dash where it is missing; a half is rounded away from zero."""
    return NONE if value is None else f"{math.nextafter(value, math.copysign(math.inf, value)):,.{digits}f}"
