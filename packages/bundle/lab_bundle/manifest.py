# SPDX-License-Identifier: GPL-2.0-or-later
"""The two tables of a bundle: the manifest names its members, the list names every file in its content."""

import hashlib
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import Field, RootModel

from lab.base.errors import field_error
from lab.schema.dataset import Sha256
from lab.schema.load import Strict

MANIFEST, LIST, CONTENT = "manifest.json", "list.json", "content.tar.zst"
WHEELS, LICENCES = "wheels/", "licences/"
MOST_BYTES = 2**33 - 1  # of one file: what a tar header of POSIX 1988 holds
MOST_ENTRIES, MOST_LIST_BYTES = 100_000, 30_000_000
UNSEALED = 64 * "0"
TIME_S = 1_700_000_000  # of change, of every file whose time decides nothing
IMAGE_ROOT = "root"  # in an image's folder: a guest's own root, in which a link may be absolute

Bytes = Annotated[int, Field(ge=0, le=MOST_BYTES)]
Text = Annotated[str, Field(min_length=1, max_length=200)]


class Member(Strict):
    """A member of the bundle, with its digest."""

    path: Text
    bytes: Bytes
    sha256: Sha256


class Manifest(Strict):
    """The first member of a bundle: what it was made from, and the members that follow in this order."""

    format: Literal[1]  # another number: another order or meaning of members
    version: Text  # of the lab: git describe
    machine: Text
    python: Text | None  # of the wheels, as 3.13; null without wheels
    folders: Annotated[list[Text], Field(max_length=MOST_ENTRIES)]  # of the cache, that the content fills
    files: Annotated[int, Field(ge=0, le=MOST_ENTRIES)]  # of the content
    content_bytes: Annotated[int, Field(ge=0)]  # unpacked
    list_bytes: Annotated[int, Field(ge=0, le=MOST_LIST_BYTES)]
    list_sha256: Sha256
    members: Annotated[list[Member], Field(max_length=MOST_ENTRIES)]
    digest: Sha256 = UNSEALED  # of this manifest with UNSEALED here

    @property
    def text(self) -> bytes:
        """The one form in which it is written."""
        return (self.model_dump_json(indent=1) + "\n").encode()

    @property
    def sealed(self) -> "Manifest":
        """The same manifest with its digest."""
        plain = self.model_copy(update={"digest": UNSEALED})
        return self.model_copy(update={"digest": hashlib.sha256(plain.text).hexdigest()})


class BundledFile(Strict):
    """A file, a folder or a link of the content; its path begins with a folder of the cache."""

    path: Annotated[str, Field(min_length=1, max_length=255)]
    kind: Literal["file", "folder", "link"]
    bytes: Bytes = 0
    sha256: Sha256 | None = None
    runs: bool = False  # a program
    link: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    time_s: Bytes = TIME_S  # compiled Python names that of its source


class Entries(RootModel[Annotated[list[BundledFile], Field(max_length=MOST_ENTRIES)]]):
    """All of the content, in its order."""


def check_entries(file: Path, manifest: Manifest, entries: list[BundledFile]) -> None:
    """Refuse an entry outside its folder, twice, below a link, or of a size that the manifest does not give."""
    folders, kinds = set(manifest.folders), dict.fromkeys(manifest.folders, "folder")
    for entry in entries:
        _check_place(file, entry, folders, kinds)
        kinds[entry.path] = entry.kind
        if (entry.kind == "file") != (entry.sha256 is not None) or (entry.kind == "link") != (entry.link is not None):
            raise _refused(file, entry, "a file with a digest, a link with its target, or a folder")
    found = {"files": len(entries), "content_bytes": sum(entry.bytes for entry in entries)}
    for name, value in found.items():
        if value != getattr(manifest, name):
            raise field_error(file, name, getattr(manifest, name), f"that of its list: {value}")


def _check_place(file: Path, entry: BundledFile, folders: set[str], kinds: dict[str, str]) -> None:
    path = PurePosixPath(entry.path)
    is_plain = entry.path == path.as_posix() and not path.is_absolute() and not {"..", "."} & set(path.parts)
    if not is_plain or not entry.path.isprintable():
        raise _refused(file, entry, "a plain path inside its folder")
    if entry.path in kinds:
        raise _refused(file, entry, "in the list once")
    if kinds.get(path.parent.as_posix()) != "folder":
        raise _refused(file, entry, "below a folder that the list names before")
    if entry.link is not None and _leaves(entry.path, entry.link, folders):
        raise _refused(file, entry, f"a link that stays in its folder, not to {entry.link}")


def _leaves(path: str, link: str, folders: set[str]) -> bool:
    """Return whether a link may lead out of its folder of the cache; in an image, out of the guest's root.

    `..` may only begin a target: behind a name, which may itself be a link, its effect is unknown.
    """
    parts = path.split("/")
    depth = next(end for end in range(1, len(parts)) if "/".join(parts[:end]) in folders)
    in_image = parts[depth] == IMAGE_ROOT and len(parts) > depth + 1
    target = [part for part in link.split("/") if part not in ("", ".")]
    upward = next((count for count, part in enumerate(target) if part != ".."), len(target))
    if ".." in target[upward:]:
        return True
    if link.startswith("/"):
        return not in_image or upward > 0
    return upward > len(parts) - 1 - depth - in_image


def _refused(file: Path, entry: BundledFile, rule: str) -> Exception:
    return field_error(file, "path", entry.path, rule)
