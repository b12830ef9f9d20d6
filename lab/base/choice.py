# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that a user gives: lists with commas; a name out of those that are known, or what is near."""

from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path

from lab.base.errors import field_error

USUAL_CCAS = "search,cubic"  # over a profile, where none are named
MOST_NAMES = 5  # in a refusal, of more than ALL_NAMES
ALL_NAMES = 8
MOST_CHARS = 100  # of a wrong name: to compare a longer one takes time


def names(text: str) -> list[str]:
    """Return the names of a list with commas."""
    return [name.strip() for name in text.split(",")]


def choose(kind: str, name: str, known: Collection[str], where: Path | str, field: str) -> str:
    """Return a name that exists; UserError names those that are near, or the first ones."""
    if name not in known:
        raise field_error(where, field, name, f"a known {kind}: {suggested(name, known)}")
    return name


def suggested(name: str, known: Collection[str]) -> str:
    """Return a question with the names that are near; without one the first names, and how many more there are."""
    if close := near(name, known):
        return f"did you mean {' or '.join(filter(None, (', '.join(close[:-1]), close[-1])))}?"
    if len(known) <= ALL_NAMES:
        return ", ".join(known)
    return ", ".join(list(known)[:MOST_NAMES]) + f", and {len(known) - MOST_NAMES} more"


def one_of(name: str, known: Collection[str]) -> str:
    """Return the rule of a field that has one of some values."""
    return f"a known one: {suggested(name, known)}" if near(name, known) else f"one of {suggested(name, known)}"


def near(name: str, known: Collection[str]) -> list[str]:
    """Return the known names that are spelt like this one, or begin with it."""
    low = name[:MOST_CHARS].lower()
    close = get_close_matches(low, known, MOST_NAMES)
    beginning = [each for each in known if low and each.startswith(low)]
    return list(dict.fromkeys([*close, *beginning]))[:MOST_NAMES]
