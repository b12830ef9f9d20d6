# SPDX-License-Identifier: GPL-2.0-or-later
"""Formats of recordings that other programs wrote: stanzas of presets.yml, and a file each in `formats/`."""

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from pydantic import ConfigDict, RootModel, model_validator

from lab.base import paths
from lab.schema.load import load
from lab.traces.importer import Formats, Head, Importer
from lab_formats import formats
from lab_formats.preset import Mapped, Preset, has_columns
from lab_formats.reading.table import BLANK
from lab_formats.resemblance import resembled

FILE = Path(__file__).with_name("presets.yml")


class Stanza(Mapped):
    """A format as data: its columns, and how a file is recognised."""

    names: list[str] = []
    line: str | None = None

    @model_validator(mode="after")
    def _is_recognised(self) -> "Stanza":
        if bool(self.names) == bool(self.line):
            raise ValueError("a format with either names or line")
        return self

    @property
    def fits(self) -> Callable[[Head], bool]:
        """Return whether a file's head is of this format, as a function."""
        return has_columns(*self.names) if self.names else self._fits_lines

    def _fits_lines(self, head: Head) -> bool:
        row = re.compile(self.line or "")
        return bool(head.lines) and all(row.fullmatch(line.strip()) for line in head.lines)

    def importer(self, name: str) -> Importer:
        """Return the format."""
        fields = {field: getattr(self, field) for field in Mapped.model_fields}
        separator = BLANK if self.separator == "blank" else self.separator
        return Preset(name=name, fits=self.fits, **{**fields, "separator": separator}).importer()


class Stanzas(RootModel[dict[str, Stanza]]):
    """All of a file."""

    model_config = ConfigDict(strict=True, frozen=True)


def stanza_importers() -> Iterator[Importer]:
    """Yield the lab's, then the user's."""
    folders = paths.with_own(FILE.parent, "LAB_IMPORTERS")[1:]
    for file in (FILE, *(file for folder in folders for file in sorted(folder.glob("*.yml")))):
        yield from (stanza.importer(name) for name, stanza in load(Stanzas, file).root.items())


def importers() -> Iterator[Importer]:
    """Yield every format: those that are data, then a file each."""
    yield from stanza_importers()
    for module in pkgutil.iter_modules(formats.__path__):
        yield from importlib.import_module(f"{formats.__name__}.{module.name}").IMPORTERS


FORMATS = Formats(importers, Path(__file__).parent, resembled)
