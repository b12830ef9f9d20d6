# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers as text: a mean with its deviation, a share with its interval, a dash if the value is missing."""

from collections.abc import Mapping
from typing import Any

NONE = "\N{EN DASH}"


def share(row: Mapping[str, Any], name: str) -> str:
    """Format a share in percent, with its interval if it has one."""
    low, high = row.get(f"{name}_lo_pct"), row.get(f"{name}_hi_pct")
    interval = "" if low is None or high is None else f" [{low:.0f}{NONE}{high:.0f}]"
    return number(row.get(f"{name}_pct"), 1) + interval


def mean(row: Mapping[str, Any], name: str, digits: int) -> str:
    """Format a mean, with its standard deviation if it has one."""
    spread = row.get(f"{name}_sd")
    return number(row.get(name), digits) + ("" if spread is None else f" ({spread:,.{digits}f})")


def number(value: float | None, digits: int) -> str:
    """Format a number with this many decimals, or a dash for None."""
    return NONE if value is None else f"{value:,.{digits}f}"
