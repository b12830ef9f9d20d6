# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures of one download, as other clocks and other places show them."""

from dataclasses import replace
from typing import Any

from whatif_captures import Frame


def later(frames: list[Frame], since_s: float, by_s: float) -> list[Frame]:
    """Set the capture's clock once."""
    return [replace(each, t_s=each.t_s + (by_s if each.t_s > since_s else 0)) for each in frames]


def twice(frames: list[Frame], after_s: float, every: int = 1) -> list[Frame]:
    """Show packets at a second place too."""
    copies = [replace(each, t_s=each.t_s + after_s) for each in frames[::every]]
    return sorted([*frames, *copies], key=lambda each: each.t_s)


def both(first: list[Any], second: list[Any]) -> list[Any]:
    """Put two captures into one file."""
    return sorted([*first, *second], key=lambda each: each.t_s)
