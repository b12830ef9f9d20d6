# SPDX-License-Identifier: GPL-2.0-or-later
"""Every published form of a recording, one file each: recognised by content, read into a Recording, or refused.

A module of this package that defines IMPORTERS adds formats; nothing else need be edited.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.base.errors import UserError, field_error
from lab.traces.importers.importer import Head, Importer
from lab.traces.recording import Recording


def _all() -> Iterator[Importer]:
    for module in pkgutil.iter_modules(__path__):
        yield from getattr(importlib.import_module(f"{__name__}.{module.name}"), "IMPORTERS", ())


FORMATS: dict[str, Importer] = {importer.name: importer for importer in sorted(_all(), key=lambda one: one.name)}


def read(path: Path, format: str | None = None, **options: Any) -> Recording:  # noqa: A002
    """Import a file; without a format, by the only importer that its content fits. UserError says why not."""
    importer = named(format) if format is not None else detect(path)
    known = options_of(importer)
    for option in options:
        if option not in known:
            raise field_error(
                path, option, options[option], f"an option of {importer.name}: {', '.join(known) or 'none'}"
            )
    return importer.read(path, **options)


def named(name: str) -> Importer:
    """Return a format by its name."""
    if name not in FORMATS:
        raise field_error("import", "format", name, f"one of {', '.join(FORMATS)}")
    return FORMATS[name]


def detect(path: Path) -> Importer:
    """Find the one importer that a file's content fits."""
    head = Head(path)
    if not head.data.strip():
        raise UserError(f"{path}: content: must be something: the file is empty")
    found = [importer for importer in FORMATS.values() if importer.fits(head)]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(f"{one.name} ({one.reads})" for one in found)
        raise UserError(f"{path}: format: must be given with --format, for several fit: {names}")
    raise UserError(
        f"{path}: format: must be one the lab recognises ({', '.join(FORMATS)}); give --format, "
        "or name the file's columns with --format columns"
    )


def options_of(importer: Importer) -> dict[str, inspect.Parameter]:
    """Return what a format can be told, by name."""
    parameters = inspect.signature(importer.read).parameters
    return {name: one for name, one in parameters.items() if one.kind is inspect.Parameter.KEYWORD_ONLY}
