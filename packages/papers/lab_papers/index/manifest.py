# SPDX-License-Identifier: GPL-2.0-or-later
"""The manifest of what a notebook handed to the page. Who reads it needs nothing of Jupyter."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from lab.report.table import Table

MANIFEST = "artefacts.json"


@dataclass(frozen=True)
class Artefact:
    """One entry of the manifest; `why` only of what is pending or left out."""

    name: str
    source: str  # the paper's figure or table
    kind: str  # figure, table, data, pending, left out
    files: tuple[str, ...] = ()
    caption: str = ""
    alt: str = ""
    why: str = ""
    table: Table | None = None


MANIFEST_FORM = TypeAdapter(list[Artefact])


def read_manifest(file: Path) -> list[Artefact]:
    """Read what a notebook handed over; nothing where it wrote no manifest."""
    return MANIFEST_FORM.validate_json(file.read_bytes()) if file.exists() else []
