# SPDX-License-Identifier: GPL-2.0-or-later
"""The recordings of trace-profiles/datasets.yml, and the paths of those that were fetched."""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

from lab.base import paths
from lab.base.cache import finished
from lab.base.choice import suggested
from lab.base.errors import UserError, field_error
from lab.base.named_files import shown
from lab.schema.dataset import Collection, Collections, Description, File, Meaning, Origin
from lab.schema.load import load
from lab.traces.importer import Option

DATASETS = paths.PROFILES / "datasets.yml"
ORIGIN = "https://raw.githubusercontent.com"  # LAB_TRACES_ORIGIN: another server with the same paths
SUFFIXES = (".iperf.txt", ".parquet.gzip", ".txt", ".log", ".csv", ".json", ".out")


@dataclass(frozen=True)
class Dataset:
    """One recording, a file or a part of one, with the description that its collection gives."""

    name: str
    collection: str
    file: str
    origin: Collection
    own: File
    part: Description

    @property
    def path(self) -> str:
        """Return the path of the file at the origin, or in the archive there."""
        return (self.own.path or self.origin.path or "").replace("{file}", self.file)

    @property
    def url(self) -> str:
        """Return what to download: the file, or the archive that holds it."""
        return url_of(self.origin, self.origin.archive or self.path)

    @property
    def recorded(self) -> list[Meaning]:
        """Return what its numbers mean."""
        return self.part.recorded or self.own.recorded or self.origin.recorded or []

    @property
    def holds(self) -> str:
        """Return the content of the file, as a sentence."""
        return self.part.holds or self.own.holds or self.origin.holds or ""

    @property
    def length_s(self) -> float | None:
        """Return its length; None without a clock."""
        return self.part.length_s or self.own.length_s

    @property
    def folder(self) -> Path:
        """Return the folder of its file in the cache."""
        return cache_folder() / self.collection / stem(self.file)

    @property
    def fetched(self) -> bool:
        return all(finished(file.folder) for file in self.files)

    @property
    def files(self) -> list["Dataset"]:
        """Return the files it needs, each as a whole: its own, and those that its options name."""
        names = [self.file, *(value for value in self.written_options.values() if value in self.origin.files)]
        return [_whole(self.collection, str(name), self.origin) for name in names]

    @property
    def options(self) -> dict[str, Option]:
        """Return its importer's options, with the paths of files; UserError where such a file was not fetched."""
        others = {file.file: file for file in self.files}
        return {
            name: _found(others[value]) if value in others else value for name, value in self.written_options.items()
        }

    @property
    def written_options(self) -> dict[str, Option]:
        return {**self.origin.options, **self.own.options, **self.part.options}


def cache_folder() -> Path:
    """Return the folder of all fetched recordings."""
    return paths.cache() / "traces"


def url_of(origin: Origin, path: str) -> str:
    """Return the raw URL of a path of an origin."""
    return "/".join((os.environ.get("LAB_TRACES_ORIGIN") or ORIGIN, origin.repository, origin.commit, quote(path)))


def by_name(collections: dict[str, Collection], where: Path = DATASETS) -> dict[str, Dataset]:
    """Return every recording by its name; UserError where two would have the same."""
    found: dict[str, Dataset] = {}
    for collection, origin in collections.items():
        for file, own in origin.files.items():
            whole = _whole(collection, file, origin)
            parts = {f"{whole.name}/{part}": part_of for part, part_of in own.parts.items()}
            for name, part in (({whole.name: whole.part} if own.whole else {}) | parts).items():
                if name in found:
                    raise field_error(shown(where), f"{collection}.files", file, f"named apart from {found[name].file}")
                found[name] = Dataset(name, collection, file, origin, own, part)
    return found


def _whole(collection: str, file: str, origin: Collection) -> Dataset:
    return Dataset(f"{collection}/{stem(file)}", collection, file, origin, origin.files[file], Description())


def stem(file: str) -> str:
    """Return a file's name without a suffix that does not describe its content."""
    return next((file.removesuffix(suffix) for suffix in SUFFIXES if file.endswith(suffix)), file)


@cache
def datasets() -> dict[str, Dataset]:
    """Return every recording of datasets.yml, by name."""
    return by_name(load(Collections, DATASETS).root)


def dataset(name: str) -> Dataset:
    """Return one recording by its name, or by its name with the file's suffix."""
    known = datasets()
    found = known.get(name) or known.get(stem(name))
    if found is None:
        parts = [each for each in known if each.startswith(f"{stem(name)}/")]
        rule = f"one of its parts: {suggested(name, parts)}" if parts else f"a recording of {shown(DATASETS)}"
        raise UserError(f"{name}: must be {rule}: 'lab traces list' names them")
    return found


def path_of(name: str) -> Path:
    """Return the file of a fetched recording; its checksum was verified when it was stored."""
    found = dataset(name)
    if not found.fetched:
        raise UserError(f"{found.name}: not fetched yet: run 'lab traces fetch {found.name}'")
    return _found(found)


def _found(wanted: Dataset) -> Path:
    return wanted.folder / Path(wanted.file).name
