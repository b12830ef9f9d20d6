# SPDX-License-Identifier: GPL-2.0-or-later
"""The terminal: text of others, as of a compiler or a stored run, moves no cursor and sets no colour there."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from lab.base.plain_text import escaped_lines

PART_CHARS = 1_000_000
LEAST_CHARS = 60  # in fewer, rich leaves columns of a table out, and in none (COLUMNS=0) all text


class PlainConsole(Console):
    """A console that writes control characters of a text as escapes, and its brackets as they are."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(highlight=False, markup=False, **settings)
        if self.width < LEAST_CHARS:
            self.width = LEAST_CHARS

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render anything that rich prints, bars too."""
        return map(_plain, super().render(renderable, options))

    def write_text(self, text: str) -> None:
        """Write a long text, a part at a time: rich takes seconds for some megabytes, and each escape is an object."""
        for begin in range(0, len(text), PART_CHARS):
            write(self, escaped_lines(text[begin : begin + PART_CHARS]))


def write(console: Console, text: str) -> None:
    """Write a text as it is."""
    try:
        console.file.write(text)
        console.file.flush()
    except BrokenPipeError:
        console.on_broken_pipe()


def _plain(segment: Segment) -> Segment:
    return segment if segment.control else segment._replace(text=escaped_lines(segment.text))
