# SPDX-License-Identifier: GPL-2.0-or-later
"""The SHA-256 of stored files, in the form of sha256sum(1): damage is noticed before a value is used.

A trial's folder has one file for all others in it: `sha256sum --check SHA256SUMS`. A file that commands write again,
such as run.json, has one of its own, run.json.sha256; while the file is replaced, that holds the old digest and the
new one. Bytes are checked whenever they are read: a file that was intact a minute ago may not be so now.
"""

import hashlib
import re
from pathlib import Path

from lab.base.errors import UserError, field_error
from lab.base.plain_file import GIGABYTE, MEGABYTE, content_of, read_plain, require_plain, write_whole

SUMS = "SHA256SUMS"
LINE = re.compile(r"([0-9a-f]{64})  ([^/\n]+)\n")
MOST_BYTES = 4 * GIGABYTE  # of a stored file
MOST_BYTES_OF_SUMS = MEGABYTE
Digests = dict[str, set[str]]  # of each file's name


def write_digests(folder: Path) -> None:
    """Write the digest of every file of a folder that is whole: nothing may be added to it later."""
    files = [file for file in content_of(folder) if file.is_file() and file.name != SUMS]
    (folder / SUMS).write_text("".join(_line(digest_of(file), file.name) for file in files))


def read_digests(file: Path) -> Digests:
    """Return the digests that a file holds; UserError where it is damaged, or is not there as before 0.1."""
    try:
        text = read_plain(file, MOST_BYTES_OF_SUMS).decode(errors="replace")
    except FileNotFoundError:
        raise UserError(f"{file}: must be there: no release of the lab stored files without digests") from None
    found: Digests = {}
    for match in LINE.finditer(text):
        found.setdefault(match[2], set()).add(match[1])
    if sum(match.end() - match.start() for match in LINE.finditer(text)) != len(text) or not found:
        raise field_error(file, "line", next(iter(LINE.sub("", text).splitlines()), ""), "a digest and a file's name")
    return found


def checked(file: Path, digests: Digests) -> bytes:
    """Return what a file holds; UserError where its digest is not the stored one."""
    content = read_plain(file, MOST_BYTES)
    _require(file, hashlib.sha256(content).hexdigest(), digests)
    return content


def check_file(file: Path, digests: Digests) -> None:
    """Raise UserError where the digest of a file is not the stored one."""
    _require(file, digest_of(file), digests)


def write_with_digest(file: Path, content: bytes) -> None:
    """Replace a file and its digest, so that they agree whenever the command is killed."""
    digests = file.with_name(f"{file.name}.sha256")
    new = _line(hashlib.sha256(content).hexdigest(), file.name)
    old = _line(digest_of(file), file.name) if file.exists() else ""
    write_whole(digests, old + new)
    write_whole(file, content)
    write_whole(digests, new)


def read_with_digest(file: Path) -> bytes:
    """Return what a file holds, checked against its digest."""
    content = read_plain(file, MOST_BYTES)  # first: a command may be replacing both
    _require(file, hashlib.sha256(content).hexdigest(), read_digests(file.with_name(f"{file.name}.sha256")))
    return content


def _line(digest: str, name: str) -> str:
    return f"{digest}  {name}\n"


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a plain file; UserError where it is another one."""
    require_plain(file, MOST_BYTES)
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _require(file: Path, found: str, digests: Digests) -> None:
    stored = digests.get(file.name, set())
    if found not in stored:
        rule = " or ".join(sorted(stored)) or "among the stored digests"
        raise field_error(file, "sha256", found, f"{rule}, as it was stored")
