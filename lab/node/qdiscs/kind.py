# SPDX-License-Identifier: GPL-2.0-or-later
"""What is known of a kind of qdisc: how it is asked for, and what the kernel says it became.

A spec is a dict with `kind`, and values whose names carry the unit. Every value is always stated: tc resets what a
change leaves out (netem's limit to 1000, its loss and rate to 0).
"""

from collections.abc import Callable
from struct import Struct
from typing import Any, NamedTuple

from lab.node.series import Line

Spec = dict[str, Any]


def _no_words(_spec: Spec) -> list[str]:
    return []


def _no_slack(_spec: Spec, _name: str) -> float:
    return 0.0


class ByTc(NamedTuple):
    """A kind that tc knows."""

    words: Callable[[Spec], list[str]]
    got: Callable[[dict[str, Any]], Spec]  # from what `tc -j` shows as its options
    made_words: Callable[[Spec], list[str]] = _no_words  # said when it is made, and not again
    slack: Callable[[Spec, str], float] = _no_slack  # by how much the kernel's own units round a value
    details: bool = False  # whether tc shows all of it with -d only (which spoils the numbers of other kinds)


class Followed(NamedTuple):
    """How a kind is told the series that it follows (lab/node/series.py)."""

    step: Struct  # ns since the start, then what `values` gives
    values: Callable[[Line], tuple[int, ...]]  # of a line of the file


class ByNetlink(NamedTuple):
    """A kind of the lab's own (lab/kernel/qdisc/), which tc does not know."""

    options: Callable[[Spec], bytes]
    got: Callable[[bytes], Spec]  # from the struct that it reports
    statistics: Callable[[bytes], dict[str, int | None]]
    followed: Followed | None = None


def microseconds_slack(_spec: Spec, name: str) -> float:
    """CoDel and its kin keep times in units of 1.024 us."""
    return 2.0 if name.endswith("_us") else 0.0


def switch(on: bool, word: str) -> str:
    """Word a switch of tc: `ecn` or `noecn`."""
    return word if on else f"no{word}"
