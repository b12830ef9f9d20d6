# SPDX-License-Identifier: GPL-2.0-or-later
"""The recordings that trace-profiles/datasets.yml names, and where those lie that were fetched."""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lab import paths
from lab.cache import finished
from lab.errors import UserError, field_error
from lab.schema.dataset import Collection, Collections, File, Meaning
from lab.schema.load import load, shown

if TYPE_CHECKING:
    from lab.traces.recording import Recording

DATASETS = paths.PROFILES / "datasets.yml"
ORIGIN = "https://raw.githubusercontent.com"  # LAB_TRACES_ORIGIN: another server with the same paths
SUFFIXES = (".iperf.txt", ".parquet.gzip", ".txt", ".log", ".csv", ".json", ".out")


@dataclass(frozen=True)
class Dataset:
    """One recording with all that its collection says of it."""

    name: str
    collection: str
    file: str
    origin: Collection
    own: File

    @property
    def path(self) -> str:
        """Return where the file lies at the origin, or in the archive there."""
        return (self.own.path or self.origin.path or "").replace("{file}", self.file)

    @property
    def url(self) -> str:
        """Return what to download: the file, or the archive that holds it."""
        return url_of(self.origin, self.origin.archive or self.path)

    @property
    def recorded(self) -> list[Meaning]:
        """Return what its numbers mean."""
        return self.own.recorded or self.origin.recorded or []

    @property
    def holds(self) -> str:
        """Return in words what the file holds."""
        return self.own.holds or self.origin.holds or ""

    @property
    def folder(self) -> Path:
        """Return its folder in the lab's cache."""
        return cache_folder() / self.name

    @property
    def fetched(self) -> bool:
        """Tell whether its file lies in the cache."""
        return finished(self.folder)


def cache_folder() -> Path:
    """Return the folder of all fetched recordings."""
    return paths.cache() / "traces"


def url_of(origin: Collection, path: str) -> str:
    """Return the raw URL of a path of a collection's origin."""
    return "/".join((os.environ.get("LAB_TRACES_ORIGIN") or ORIGIN, origin.repository, origin.commit, quote(path)))


def named(collections: dict[str, Collection], where: Path = DATASETS) -> dict[str, Dataset]:
    """Return every recording by its name; UserError where two would have the same."""
    found: dict[str, Dataset] = {}
    for collection, origin in collections.items():
        for file, own in origin.files.items():
            name = f"{collection}/{stem(file)}"
            if name in found:
                raise field_error(shown(where), f"{collection}.files", file, f"named apart from {found[name].file}")
            found[name] = Dataset(name, collection, file, origin, own)
    return found


def stem(file: str) -> str:
    """Return a file's name without the suffix that says nothing of its content."""
    return next((file.removesuffix(suffix) for suffix in SUFFIXES if file.endswith(suffix)), file)


@cache
def datasets() -> dict[str, Dataset]:
    """Return every recording of datasets.yml, by name."""
    return named(load(Collections, DATASETS).root)


def dataset(name: str) -> Dataset:
    """Return one recording by its name, or by its name with the file's suffix."""
    known = datasets()
    found = known.get(name) or known.get(stem(name))
    if found is None:
        raise UserError(f"{name}: must be a recording of {shown(DATASETS)}: 'lab traces list' names them")
    return found


def path_of(name: str) -> Path:
    """Return the file of a fetched recording; its checksum was verified when it was stored."""
    asked = dataset(name)
    if not asked.fetched:
        raise UserError(f"{asked.name}: not fetched yet: run 'lab traces fetch {asked.name}'")
    return asked.folder / Path(asked.file).name


def recording_of(name: str, **options: Any) -> "Recording":
    """Return a fetched recording; imported once (for each set of an importer's options), then read from the cache."""
    from lab.traces.imported import read_once

    asked = dataset(name)
    return read_once(path_of(name), asked.own.format, options)
