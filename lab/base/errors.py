# SPDX-License-Identifier: GPL-2.0-or-later
"""The exception that ends a command with one line and exit status 2."""

from pathlib import Path


class UserError(Exception):
    """A mistake that the user can fix; its text is the whole message."""


def field_error(file: Path | str, field: str, value: object, rule: str) -> UserError:
    """Return the error of a refused field, `<file>: <field>=<value>: must be <rule>`, on one line for any value."""
    shown = str(value)
    return UserError(f"{file}: {field}={shown if shown.isprintable() else repr(shown)}: must be {rule}")
