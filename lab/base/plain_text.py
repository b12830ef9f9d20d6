# SPDX-License-Identifier: GPL-2.0-or-later
"""Text of others as a line shows it: no control characters, and of bounded length."""

import re

# Lone surrogates, Unicode's line ends, what turns the direction of a line (bidi), and no characters (XML has none) too.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
IN_LINES = re.compile(CONTROL.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))


def escaped(text: str) -> str:
    """Write control characters as escapes."""
    return CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def escaped_lines(text: str) -> str:
    """Write control characters as escapes, but keep the lines and tabs of a text."""
    return IN_LINES.sub(lambda found: ascii(found[0])[1:-1], text)


def flat(text: str) -> str:
    """Put a blank in the place of each control character."""
    return CONTROL.sub(" ", text)


def cut(text: str, most_chars: int) -> str:
    """Shorten a text."""
    return text if len(text) <= most_chars else f"{text[: most_chars - 3]}..."


def shown(value: object) -> str:
    """Return a value as text; a whole number with too many digits for Python is named by that."""
    try:
        return str(value)
    except ValueError:
        return "a number of more than 4300 digits"
