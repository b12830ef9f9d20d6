# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands on a command line: its name in errors, and lists with commas."""

COMMAND_LINE = "command line"
USUAL_CCAS = "search,cubic"  # over a profile, where none are named


def names(text: str) -> list[str]:
    """Return the names of a list with commas."""
    return [name.strip() for name in text.split(",")]
