# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings by name or file: imported once, and kept as Parquet until an importer changes."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from lab.base import paths
from lab.base.errors import UserError
from lab.traces import importers, recording
from lab.traces.datasets import dataset, datasets, path_of, stem
from lab.traces.importer import Head, Option
from lab.traces.recording import Recording


def read_once(file: Path, form: str | None, options: dict[str, Option]) -> Recording:
    """Import a file of the cache, or read what was imported before by the same code with the same options."""
    return recording.read(_store_once(file, form, options, file.parent, ""))


def recording_of(name: str, **options: Any) -> Recording:
    """Return a fetched recording; imported once (for each set of an importer's options), then read from the cache."""
    found = dataset(name)
    return read_once(path_of(name), found.own.format, found.options | options)


def imported_dataset(name: str) -> Path:
    """Return the stored recording of a fetched dataset, for reading it lazily."""
    file, found = path_of(name), dataset(name)
    return _store_once(file, found.own.format, found.options, file.parent, "")


def imported(file: Path, form: str | None) -> Path:
    """Return the stored recording of any file: the file itself where it is one, else its import."""
    if form is None and importers.is_stored(Head(file)):
        return file
    folder = paths.cache() / "recordings"
    folder.mkdir(parents=True, exist_ok=True)
    return _store_once(file, form, {}, folder, f"{content_digest(file)}-")


def content_digest(file: Path) -> str:
    """Digest what a file holds."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:16]


def _store_once(file: Path, form: str | None, options: dict[str, Option], folder: Path, prefix: str) -> Path:
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


def find(name: str, form: str | None, settings: list[str]) -> Recording:
    """Return the recording of a name of datasets.yml or of a file; settings are the importer's, as name=value."""
    known = stem(name) in datasets()
    if not known and not Path(name).is_file():
        raise UserError(f"{name}: must be a file, or a recording that 'lab traces list' names")
    if known and form:
        raise UserError(f"--format={form}: must be left out for a recording of datasets.yml")
    file = path_of(name) if known else Path(name)
    form = form or (dataset(name).own.format if known else None)
    importer = importers.importer_of(form) if form else importers.detect(file)
    options = importers.given_options(importer, settings)
    return recording_of(name, **options) if known else importers.read(file, importer.name, **options)
