# SPDX-License-Identifier: GPL-2.0-or-later
"""The crates of the QUIC sender: named by Cargo.lock, fetched from their registry, and verified by its checksums."""

import hashlib
import json
import os
import tarfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab_formats.fetching.candidates import Candidate, Mirror
from lab_formats.fetching.download import downloading
from lab_formats.fetching.fetch import take

from lab.base import paths
from lab.base.cache import finished, publish
from lab.base.errors import UserError
from lab.base.tar_member import write_member
from lab.schema.dataset import Document

LOCK = Path(__file__).with_name("Cargo.lock")
ORIGIN = "https://static.crates.io"  # or a copy of it that LAB_CRATES_ORIGIN names
NAME = "quinn"  # by which `lab senders fetch` knows them all
MOST_BYTES = 32 << 20  # of a crate


@dataclass(frozen=True)
class Crate:
    """One crate of Cargo.lock."""

    name: str
    version: str
    sha256: str

    @property
    def file(self) -> str:
        return f"{self.name}-{self.version}.crate"

    @property
    def path(self) -> str:
        """Return its place at the origin."""
        return f"crates/{self.name}/{self.file}"


def locked() -> list[Crate]:
    """Return every crate of Cargo.lock; our own package has no checksum."""
    packages = tomllib.loads(LOCK.read_text())["package"]
    return [Crate(each["name"], each["version"], each["checksum"]) for each in packages if "checksum" in each]


def folder() -> Path:
    """Return the cached folder of the crates; another lock is another folder."""
    return paths.cache() / f"crates-{hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]}"


def fetched() -> bool:
    """Return whether all crates are in the cache."""
    return finished(folder())


def fetch(mirror: Mirror | None = None) -> str:
    """Fetch all crates or none; return where they came from. UserError where one is not there, or is another."""
    with publish(folder()) as draft:
        if draft is None:
            return "already fetched"
        for crate in locked():
            wanted = Document(path=crate.path, bytes=MOST_BYTES, sha256=crate.sha256)
            take(crate.path, wanted, draft / crate.file, _candidates(crate, mirror))
    return f"{len(locked())} crates fetched from {mirror.folder if mirror else _origin()}"


def _origin() -> str:
    return os.environ.get("LAB_CRATES_ORIGIN", ORIGIN)


def _candidates(crate: Crate, mirror: Mirror | None) -> Iterator[Candidate]:
    if mirror:
        yield from mirror.candidates(NAME, crate.file, crate.path, MOST_BYTES)
    else:
        url = f"{_origin()}/{crate.path}"
        yield Candidate(url, lambda: downloading(url), name_matches=True)


def unpack(target: Path) -> None:
    """Lay the crates out as cargo's directory source has them."""
    for crate in locked():
        with tarfile.open(folder() / crate.file) as tar:
            members = [member for member in tar.getmembers() if member.isreg() or member.isdir()]
            if any(not _inside(member.name, crate) for member in members):
                raise UserError(f"{crate.file}: must hold files of {crate.name}-{crate.version} alone")
            for member in members:
                if member.isreg():
                    write_member(tar, member, target / member.name)
                    os.utime(target / member.name, (member.mtime, member.mtime))
        # Without sums of single files: the archive's own was checked, and one crate is patched.
        sums = {"files": {}, "package": crate.sha256}
        (target / f"{crate.name}-{crate.version}" / ".cargo-checksum.json").write_text(json.dumps(sums))


def _inside(name: str, crate: Crate) -> bool:
    parts = Path(name).parts
    return bool(parts) and parts[0] == f"{crate.name}-{crate.version}" and ".." not in parts
