# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings by name or file: imported once, and kept as Parquet until an importer changes."""

import hashlib
from functools import cache
from pathlib import Path

from lab.errors import UserError
from lab.traces import importers, recording
from lab.traces.datasets import datasets, recording_of, stem
from lab.traces.recording import Recording

CODE = Path(__file__).parent


def read_once(file: Path, form: str | None, options: dict[str, str]) -> Recording:
    """Import a file of the cache, or read what was imported before by the same code with the same options."""
    asked = "".join(f" {name}={value}" for name, value in sorted(options.items()))
    stored = file.parent / f"recording-{digest(asked)}.parquet"
    if stored.exists():
        return recording.read(stored)
    found = importers.read(file, form, **options)
    recording.write(found, stored)
    return found


@cache
def digest(asked: str) -> str:
    """Digest an importer's options and the code that imports."""
    code = hashlib.sha256(asked.encode())
    for file in sorted([*CODE.glob("importers/*.py"), *(CODE / name for name in ("recording.py", "columns.py"))]):
        code.update(file.read_bytes())
    return code.hexdigest()[:16]


def find(name: str, form: str | None = None, options: dict[str, str] | None = None) -> Recording:
    """Return the recording of a name of datasets.yml or of a file."""
    if stem(name) in datasets():
        if form:
            raise UserError(f"--format={form}: must be left out for a recording of datasets.yml")
        return recording_of(name, **(options or {}))
    if Path(name).is_file():
        return importers.read(Path(name), form, **(options or {}))
    raise UserError(f"{name}: must be a file, or a recording that 'lab traces list' names")


def options_of(words: list[str]) -> dict[str, str]:
    """Read an importer's options, given as NAME=VALUE."""
    for word in words:
        if "=" not in word.strip("="):
            raise UserError(f"--option={word}: must be NAME=VALUE")
    return dict(word.split("=", 1) for word in words)  # type: ignore[misc]
