# SPDX-License-Identifier: GPL-2.0-or-later
"""The names that a wrong one may stand for: a line is no list of everything."""

from collections.abc import Iterable
from difflib import get_close_matches

MOST = 5
ALIKE = 0.5  # of two names, from 0 to 1
MOST_CHARS = 100  # of the wrong name: to compare a longer one takes time


def near(name: str, known: Iterable[str]) -> str:
    """Return at most five known names, those most like a wrong one first, and how many there are; all where few are."""
    names = list(known)
    if len(names) <= MOST:
        return ", ".join(names)
    alike = get_close_matches(name[:MOST_CHARS], names, MOST, ALIKE) or names[:MOST]
    return f"{', '.join(alike)}, or another of {len(names)}"
