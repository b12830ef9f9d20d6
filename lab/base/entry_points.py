# SPDX-License-Identifier: GPL-2.0-or-later
"""What packages bring: entry points of a group, of all that is installed and of this checkout's packages/."""

import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, distributions
from pathlib import Path
from typing import Any

from lab.base.errors import UserError, field_error
from lab.base.paths import REPO


@cache
def brought(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name; those of the checkout stand for installed ones of the same name."""
    return {point.name: point for point in (*_installed().select(group=group), *_of_checkout(group))}


@cache
def _installed() -> EntryPoints:
    return EntryPoints(point for each in distributions() for point in each.entry_points)


def loaded(group: str) -> dict[str, Any]:
    """Return what the entry points of a group name; UserError where a package cannot be imported or lacks it."""
    return {name: _loaded(point) for name, point in brought(group).items()}


def _loaded(point: EntryPoint) -> Any:
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        rule = f"an object of an installed package: {error}"
        raise field_error(f"entry point of {point.group}", point.name, point.value, rule) from None


def _of_checkout(group: str) -> Iterator[EntryPoint]:
    """Yield the entry points of packages/: a checkout's packages need no installing."""
    for file in sorted(REPO.glob("packages/*/pyproject.toml")):
        if str(file.parent) not in sys.path:
            sys.path.append(str(file.parent))
        yield from (EntryPoint(name, value, group) for name, value in _declared(file).get(group, {}).items())


@cache
def _declared(file: Path) -> dict[str, dict[str, str]]:
    try:
        return dict(tomllib.loads(file.read_text())["project"].get("entry-points", {}))
    except (ValueError, KeyError) as error:
        raise UserError(f"{file}: {error}: must be TOML with a table [project]") from None
