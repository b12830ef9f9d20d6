# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines of text for people: wrapped at words in a terminal, whole where they are redirected."""

from rich.console import Console


def say(console: Console, text: str) -> None:
    """Print sentences."""
    console.print(text, soft_wrap=not console.is_terminal, markup=False)


def show_path(console: Console, name: str, path: object) -> None:
    """Print where something lies: a path is never broken, so that it can be copied."""
    console.print(f"{name:9} {path}", soft_wrap=True, markup=False)
