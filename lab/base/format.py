# SPDX-License-Identifier: GPL-2.0-or-later
"""Format numbers: a mean with its deviation, a share with its interval, a dash for a missing value."""

from collections.abc import Mapping
from typing import Any

NONE = "\N{EN DASH}"


def share(row: Mapping[str, Any], name: str) -> str:
    """Format a share in percent, with its interval where the row has one."""
    low, high = row.get(f"{name}_lo_pct"), row.get(f"{name}_hi_pct")
    interval = "" if low is None or high is None else f" [{low:.0f}{NONE}{high:.0f}]"
    return number(row.get(f"{name}_pct"), 1) + interval


def mean(row: Mapping[str, Any], name: str, digits: int) -> str:
    """Format a mean, with its standard deviation where the row has one."""
    spread = row.get(f"{name}_sd")
    return number(row.get(name), digits) + ("" if spread is None else f" ({spread:,.{digits}f})")


def number(value: float | None, digits: int) -> str:
    """Format a number with `digits` decimals, or the dash where it is missing."""
    return NONE if value is None else f"{value:,.{digits}f}"
