# SPDX-License-Identifier: GPL-2.0-or-later
"""The one exception that ends in a single line on the terminal and exit status 2."""

import re
from pathlib import Path

MOST_MESSAGE_CHARS, MOST_VALUE_CHARS = 2000, 200
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")  # lone surrogates and Unicode's line ends too


class UserError(Exception):
    """A mistake that the user can fix; its text is the whole message: one line of bounded length."""

    def __init__(self, message: str) -> None:
        super().__init__(cut(one_line(message), MOST_MESSAGE_CHARS))


def field_error(file: Path | str, field: str, value: object, rule: str) -> UserError:
    """Format a refused field as `<file>: <field>=<value>: must be <rule>`, on one line whatever the value holds."""
    shown = cut(shown_value(value), MOST_VALUE_CHARS)
    text = shown if shown.isprintable() else repr(shown)
    return UserError(f"{file}: {cut(field, MOST_VALUE_CHARS)}={text}: must be {rule}")


def shown_value(value: object) -> str:
    """Return a value as text; a whole number with too many digits for Python is named by its size."""
    try:
        return str(value)
    except ValueError:
        return "a number of more than 4300 digits"


def one_line(text: str) -> str:
    """Write control characters and lone surrogates as escapes."""
    return CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def cut(text: str, most_chars: int) -> str:
    """Shorten a text."""
    return text if len(text) <= most_chars else f"{text[: most_chars - 3]}..."
