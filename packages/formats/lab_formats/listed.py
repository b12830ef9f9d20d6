# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab traces formats`: the formats that the lab imports, as a table."""

import inspect
from pathlib import Path
from typing import Literal, get_args, get_origin

from lab.traces.importers import known_formats, options_of

HEADER = ("format", "file", "gives", "options")
Row = tuple[str, str, str, str]


def rows() -> list[Row]:
    """Return one row per format, by name."""
    return [(one.name, one.reads, one.gives, _options(options_of(one))) for one in known_formats().values()]


def markdown() -> str:
    """Return the table as Markdown."""
    table = [HEADER, ("---",) * len(HEADER), *((f"`{name}`", *rest) for name, *rest in rows())]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in table)


def _options(options: dict[str, inspect.Parameter]) -> str:
    return ", ".join(f"{name}{_choices(one)}" for name, one in options.items())


def _choices(option: inspect.Parameter) -> str:
    """Return the values that an option takes, where they are few."""
    kinds = get_args(option.annotation) or (option.annotation,)
    literal = next((kind for kind in (option.annotation, *kinds) if get_origin(kind) is Literal), None)
    if literal is not None:
        return f" ({', '.join(get_args(literal))})"
    return " (yes, no)" if bool in kinds else " (file)" if Path in kinds else ""
