# SPDX-License-Identifier: GPL-2.0-or-later
"""What a check returns: a share of its points, the reason, and where it went wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.report.template import Picture


@dataclass(frozen=True)
class Marks:
    """The outcome of one check. A reason is a sentence or a few that a student learns from.

    share: of the check's points, from 0 to 1. where: the packet, bin or time at which it went wrong. confirms: of a
    hidden check, by the public check that names it, the share of what that one looks at; without: its own share.
    """

    share: float
    reason: str
    where: str = ""
    figures: tuple[Picture, ...] = field(default=(), compare=False)
    confirms: Mapping[str, float] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        """Refuse what no rubric can mean: a fault of the check itself."""
        if not 0 <= self.share <= 1:
            raise ValueError(f"share={self.share}: must be from 0 to 1")


def full(reason: str, *figures: Picture) -> Marks:
    """Return all points."""
    return Marks(1.0, reason, figures=figures)


def none(reason: str, where: str = "", *figures: Picture) -> Marks:
    """Return no points."""
    return Marks(0.0, reason, where, figures)


def of_parts(parts: list[tuple[bool, str]], where: str = "", *figures: Picture) -> Marks:
    """Return the share of parts that hold; the reasons of those that do not, or of all that do."""
    held = [reason for holds, reason in parts if holds]
    failed = [reason for holds, reason in parts if not holds]
    return Marks(len(held) / len(parts), " ".join(failed or held), where if failed else "", figures)
