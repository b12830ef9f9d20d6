# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetch recordings into the cache: verified, whole or not there, with their licence shown."""

import hashlib
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path, PurePosixPath

from lab.base.cache import finished, publish
from lab.base.errors import UserError
from lab.base.scratch import scratch_folder
from lab.schema.dataset import Collection, Document, File, Origin
from lab.traces.datasets import Dataset, cache_folder, dataset, datasets, url_of
from lab_formats.fetching.candidates import Candidate, Mirror, in_archive
from lab_formats.fetching.download import Refused, copy, downloading

MOST_ARCHIVE_BYTES = 1_000_000_000


def chosen(names: list[str], everything: bool) -> list[Dataset]:
    """Return the files of recordings, chosen by name, by collection, or all that have a licence."""
    known = datasets()
    if everything == bool(names):
        raise UserError("lab traces fetch: must be given names or --all: 'lab traces list' names them")
    found: dict[str, Dataset] = {}
    for name in names or [name for name, each in known.items() if each.origin.may_be_passed_on]:
        of_collection = {key: each for key, each in known.items() if each.collection == name.rstrip("/")}
        found |= of_collection or {dataset(name).name: dataset(name)}
    return list({file.name: file for each in found.values() for file in each.files}.values())


def fetch(requested: list[Dataset], mirror: Mirror | None) -> Iterator[str]:
    """Fetch recordings, and yield one line for each; UserError at the end where some were not available."""
    refused: list[Refused] = []
    with scratch_folder() as scratch:
        for collection, members in groupby(requested, key=lambda each: each.collection):
            yield from _fetch_collection(collection, list(members), mirror, scratch, refused)
    require_all(refused, len(requested), "recordings")


def _fetch_collection(
    collection: str, members: list[Dataset], mirror: Mirror | None, scratch: Path, refused: list[Refused]
) -> Iterator[str]:
    origin = members[0].origin
    yield f"{collection}: {origin.terms}, {origin.attribution}"
    stored = False
    for member in members:
        try:
            place = _store(member, _candidates(member, mirror, scratch))
        except Refused as error:
            refused.append(error)
            if len(members) > 1:
                yield f"  {error}"
            continue
        stored = stored or place is not None
        yield f"  {member.name}: fetched from {place}" if place else f"  {member.name}: already fetched"
    if stored and origin.documents:
        yield from _documents(collection, origin, mirror)


def _candidates(wanted: Dataset, mirror: Mirror | None, scratch: Path) -> Iterator[Candidate]:
    if mirror:
        yield from mirror.candidates(wanted.collection, wanted.file, wanted.path, wanted.own.bytes)
    elif wanted.origin.archive:
        yield from in_archive(_archive(wanted, scratch), wanted)
    else:
        yield Candidate(wanted.url, lambda: downloading(wanted.url), name_matches=True)


def _archive(wanted: Dataset, scratch: Path) -> Path:
    """Download an archive, once for all its members."""
    archive = scratch / hashlib.sha256(wanted.url.encode()).hexdigest()
    if not archive.exists():
        partial = archive.with_suffix(".part")
        with downloading(wanted.url) as stream, partial.open("wb") as sink:
            if not copy(stream, sink, MOST_ARCHIVE_BYTES, wanted.url):
                raise Refused(f"{wanted.url}: must be smaller than {MOST_ARCHIVE_BYTES} bytes")
        partial.rename(archive)
    return archive


def _store(wanted: Dataset, candidates: Iterable[Candidate]) -> str | None:
    """Store the candidate that has the checksum, and return its place; None where the recording is already stored."""
    with publish(wanted.folder) as draft:
        if draft is None:
            return None
        return take(wanted.name, wanted.own, draft / PurePosixPath(wanted.file).name, candidates)


def take(name: str, wanted: File | Document, file: Path, candidates: Iterable[Candidate]) -> str:
    """Copy the first candidate that has the checksum; a named one with another checksum is refused and kept."""
    wrong: list[tuple[Candidate, Path, str]] = []
    for candidate in candidates:
        found = _copied(candidate, file, wanted.bytes)
        if found == wanted.sha256:
            return candidate.place
        if candidate.name_matches and not wrong:
            wrong.append((candidate, file.rename(file.with_name(f"{file.name}.wrong")), found))
    if not wrong:
        raise Refused(f"{name}: must be in the folder, by name or by checksum {wanted.sha256[:16]}…")
    candidate, kept, found = wrong[0]
    kept_at = cache_folder() / "refused" / f"{found[:16]}-{file.name}"
    kept_at.parent.mkdir(parents=True, exist_ok=True)
    kept.replace(kept_at)
    raise Refused(f"{candidate.place}: sha256={found[:16]}…: must be {wanted.sha256[:16]}…; kept as {kept_at}")


def _copied(candidate: Candidate, file: Path, most_bytes: int) -> str:
    """Copy at most one byte more than expected, and return the checksum."""
    damaged = suppress(zipfile.BadZipFile, zlib.error)  # a member of an archive: its checksum shows it
    with candidate.open() as stream, file.open("wb") as sink, damaged:
        copy(stream, sink, most_bytes, candidate.place)
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _documents(collection: str, origin: Collection, mirror: Mirror | None) -> Iterator[str]:
    """Fetch a collection's licence text and read-me; where they are missing, yield a line and go on."""
    folder = cache_folder() / collection / "documents"
    try:
        with publish(folder) as draft:
            if draft:
                for file, document in origin.documents.items():
                    found = documents(collection, file, document, origin, mirror)
                    take(f"{collection}/{file}", document, draft / file, found)
    except Refused as error:
        yield f"  licence text not stored: {error}"
    if finished(folder):
        yield f"  licence text: {folder}"


def documents(name: str, file: str, document: Document, origin: Origin, mirror: Mirror | None) -> Iterator[Candidate]:
    """Yield the places of a document: those of a mirror, or its own at the origin."""
    if mirror:
        yield from mirror.candidates(name, file, document.path, document.bytes)
    else:
        url = url_of(origin, document.path)
        yield Candidate(url, lambda: downloading(url), name_matches=True)


def require_all(refused: Sequence[Refused], requested: int, what: str) -> None:
    """Raise UserError where some of what was requested was not fetched."""
    if refused and requested > 1:
        raise UserError(f"{len(refused)} of {requested} {what} were not fetched; the last: {refused[-1]}")
    if refused:
        raise refused[0]
