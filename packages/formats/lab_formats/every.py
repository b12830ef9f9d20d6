# SPDX-License-Identifier: GPL-2.0-or-later
"""Formats of recordings that other programs wrote: stanzas of presets.yml, and a file each in `formats/`."""

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

from lab.traces.importer import Formats, Importer
from lab_formats import formats, stanzas
from lab_formats.resemblance import resembled


def importers() -> Iterator[Importer]:
    """Yield every format: those that are data, then a file each."""
    yield from stanzas.importers()
    for module in pkgutil.iter_modules(formats.__path__):
        yield from importlib.import_module(f"{formats.__name__}.{module.name}").IMPORTERS


FORMATS = Formats(importers, Path(__file__).parent, resembled)
