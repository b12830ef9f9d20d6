# SPDX-License-Identifier: GPL-2.0-or-later
"""The one exception that ends in a single line on the terminal and exit status 2."""

from pathlib import Path


class UserError(Exception):
    """A mistake the user can mend; its text is the whole message."""


def field_error(file: Path | str, field: str, value: object, rule: str) -> UserError:
    """Word a refused field as `<file>: <field>=<value>: must be <rule>`, on one line whatever the value holds."""
    shown = str(value)
    return UserError(f"{file}: {field}={shown if shown.isprintable() else repr(shown)}: must be {rule}")
