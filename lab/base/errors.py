# SPDX-License-Identifier: GPL-2.0-or-later
"""The exceptions that end in a line per mistake on the terminal and exit status 2."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.base.plain_text import cut, escaped, shown

COMMAND_LINE = "command line"  # in place of a file, in an error
MOST_CHARS, MOST_VALUE_CHARS = 2000, 200
MOST_FAULTS = 40


class UserError(Exception):
    """A mistake that the user can fix; its text is the whole message, on one line of bounded length."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class Faults(UserError):
    """Several mistakes of one call, each on a line of its own."""

    def __init__(self, faults: Iterable[UserError | str]) -> None:
        self.lines = tuple(dict.fromkeys(line for fault in faults for line in str(fault).split("\n")))
        Exception.__init__(self, self.lines)  # what pickle makes it from again

    def __str__(self) -> str:
        return "\n".join(self.lines[:MOST_FAULTS])


class Interrupted(Exception):
    """Ctrl-C; its text is the command that goes on."""


@contextmanager
def going_on(command: Callable[[], str | None]) -> Iterator[None]:
    """Name the command that goes on after a Ctrl-C in the block, if there is one."""
    try:
        yield
    except KeyboardInterrupt:
        if (named := command()) is None:
            raise
        raise Interrupted(named) from None


def one_line(message: str) -> str:
    """Return a message on one line; the middle of a very long one is left out."""
    line = escaped(" ".join(message.splitlines()))
    half = MOST_CHARS // 2
    return line if len(line) <= MOST_CHARS else f"{line[:half]} ... {line[-half:]}"


def field_error(file: Path | str, field: str, value: object, rule: str) -> UserError:
    """Format a refused field as `<file>: <field>=<value>: must be <rule>`, on one line whatever the value holds."""
    text = cut(shown(value), MOST_VALUE_CHARS)
    return UserError(
        f"{file}: {cut(field, MOST_VALUE_CHARS)}={text if text.isprintable() else repr(text)}: must be {rule}"
    )
