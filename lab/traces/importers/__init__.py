# SPDX-License-Identifier: GPL-2.0-or-later
"""Every published format of a recording: recognised by content, read into a Recording, or refused.

`formats/` has one file per format, `reading/` the helpers. LAB_IMPORTERS names a folder with formats of the user's own.
"""

import importlib.util
import inspect
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from lab.base import paths
from lab.base.additions import load_file
from lab.base.choice import one_of
from lab.base.errors import UserError, field_error
from lab.traces.importers.reading.importer import Head, Importer
from lab.traces.importers.resemblance import resembled
from lab.traces.recording import Recording

SHIPPED = Path(__file__).parent / "formats"


def folders() -> list[Path]:
    """Return the folders with formats."""
    return paths.with_own(SHIPPED, "LAB_IMPORTERS")


@cache
def known_formats() -> dict[str, Importer]:
    """Return every importer by name; UserError where two have the same."""
    found: dict[str, Importer] = {}
    for module in _modules():
        for importer in getattr(module, "IMPORTERS", ()):
            if importer.name in found:
                raise field_error(module.__file__ or "", "name", importer.name, "a name that no other format has")
            found[importer.name] = importer
    return dict(sorted(found.items()))


def read(path: Path, format: str | None = None, **options: Any) -> Recording:  # noqa: A002
    """Import a file; without a format, by the only importer whose format its content fits. Else UserError."""
    importer = importer_of(format) if format is not None else detect(path)
    known = options_of(importer)
    for option in options:
        if option not in known:
            raise field_error(
                path, option, options[option], f"an option of {importer.name}: {', '.join(known) or 'none'}"
            )
    return importer.read(path, **options)


def importer_of(name: str) -> Importer:
    """Return an importer by the name of its format."""
    if name not in known_formats():
        raise field_error("import", "format", name, one_of(name, known_formats()))
    return known_formats()[name]


def detect(path: Path) -> Importer:
    """Find the one importer whose format a file's content fits."""
    found = fitting(path)
    if len(found) == 1:
        if found[0].ambiguous:
            rule = f"given with --format: {found[0].name} ({found[0].reads}), or {found[0].ambiguous}"
            raise UserError(f"{path}: format: must be {rule}")
        return found[0]
    if found:
        names = ", ".join(f"{one.name} ({one.reads})" for one in found)
        raise UserError(f"{path}: format: must be given with --format, because several fit: {names}")
    raise UserError(
        f"{path}: format: must be one that the lab recognises; it resembles {' or '.join(resembled(Head(path)))}: "
        "give --format, or name the file's columns with --format columns ('lab traces formats' lists all)"
    )


def fitting(path: Path) -> list[Importer]:
    """Return every importer whose format a file's content fits; UserError where it is empty."""
    head = Head(path)
    if not head.data.strip():
        raise UserError(f"{path}: content: must be something: the file is empty")
    return [importer for importer in known_formats().values() if importer.fits(head)]


def options_of(importer: Importer) -> dict[str, inspect.Parameter]:
    """Return the options of a format, by name."""
    parameters = inspect.signature(importer.read).parameters
    return {name: one for name, one in parameters.items() if one.kind is inspect.Parameter.KEYWORD_ONLY}


def _modules() -> Iterator[ModuleType]:
    for module in pkgutil.iter_modules([str(SHIPPED)]):
        yield importlib.import_module(f"{__name__}.formats.{module.name}")
    for folder in folders()[1:]:
        for file in sorted(folder.glob("*.py")):
            yield load_file(file, f"own_format_{file.stem}")
