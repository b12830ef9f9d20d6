# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings by name or file: imported once, and kept as Parquet until an importer changes."""

import hashlib
from functools import cache
from pathlib import Path

from lab.base import paths
from lab.traces import importers, recording
from lab.traces.datasets import dataset, path_of
from lab.traces.importer import Head, Option


def imported_dataset(name: str) -> Path:
    """Return the stored recording of a fetched dataset, for reading it lazily."""
    file, found = path_of(name), dataset(name)
    return stored_once(file, found.own.format, found.options, file.parent)


def imported(file: Path, form: str | None) -> Path:
    """Return the stored recording of any file: the file itself where it is one, else its import."""
    if form is None and importers.is_stored(Head(file)):
        return file
    folder = paths.cache() / "recordings"
    folder.mkdir(parents=True, exist_ok=True)
    return stored_once(file, form, {}, folder, f"{content_digest(file)}-")


def content_digest(file: Path) -> str:
    """Digest what a file holds."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:16]


def stored_once(file: Path, form: str | None, options: dict[str, Option], folder: Path, prefix: str = "") -> Path:
    """Return the stored recording of a file, imported by the same code with the same options now or before."""
    request = f"{form}" + "".join(f" {name}={value}" for name, value in sorted(options.items()))
    kept = folder / f"recording-{prefix}{digest(request)}.parquet"
    if not kept.exists():
        recording.write(importers.read(file, form, **options), kept)
    return kept


@cache
def digest(request: str) -> str:
    """Digest an importer's options and all code that can change what it returns, the user's own formats included."""
    code = hashlib.sha256(request.encode())
    for file in importers.code_files():
        code.update(file.read_bytes())
    return code.hexdigest()[:16]
