# SPDX-License-Identifier: GPL-2.0-or-later
"""Take the wheels out of a bundle, before there is an environment: standard library only, and this file alone.

`python3 bootstrap.py FILE FOLDER` writes them to a new folder and checks each digest. scripts/setup-bundle runs it.
"""

import hashlib
import json
import sys
import tarfile
from pathlib import Path
from typing import NoReturn

WHEELS = "wheels/"
MOST_MANIFEST_BYTES = 64_000_000
MOST_LINE_CHARS = 2000
ENDINGS = (".whl", ".lock")


def main(file: Path, folder: Path) -> None:
    """Extract the wheels; one line and exit status 2 where this cannot be."""
    try:
        with file.open("rb") as stream, tarfile.open(fileobj=stream, mode="r:") as archive:
            first = archive.next()
            if first is None or first.name != "manifest.json" or not 0 < first.size <= MOST_MANIFEST_BYTES:
                _refuse(f"{file}: must be a bundle that 'lab bundle make' wrote")
            manifest = json.loads(_content(archive, first))
            _require_python(file, manifest["python"])
            wanted = {each["path"]: each["sha256"] for each in manifest["members"] if each["path"].startswith(WHEELS)}
            _extract(file, archive, wanted, folder)
    except OSError as error:
        _refuse(f"{error.filename or file}: {error.strerror or error}")
    except (tarfile.TarError, ValueError, KeyError, TypeError, AttributeError, EOFError, RecursionError):
        _refuse(f"{file}: must be whole: it is cut short or damaged: fetch it again")


def _require_python(file: Path, wanted: str | None) -> None:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    if wanted is None:
        _refuse(f"{file}: holds no wheels: run 'make setup' with the network first, then 'lab bundle use {file}'")
    if wanted != here:
        _refuse(f"{file}: python={wanted}: must be {here}, as {sys.executable} is: PYTHON=python{wanted} names another")


def _extract(file: Path, archive: tarfile.TarFile, wanted: dict[str, str], folder: Path) -> None:
    while wanted and (member := archive.next()):
        if member.name not in wanted:
            continue
        name = member.name.removeprefix(WHEELS)
        if "/" in name or not name.endswith(ENDINGS):
            _refuse(f"{file}: {member.name}: must be a wheel")
        data = _content(archive, member)
        if hashlib.sha256(data).hexdigest() != wanted.pop(member.name):
            _refuse(f"{file}: {member.name}: must have the digest of the manifest: the file is damaged: fetch it again")
        (folder / name).write_bytes(data)
    if wanted:
        _refuse(f"{file}: must be whole: it is cut short or damaged: fetch it again")


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(member) if member.isreg() and not member.issparse() else None
    data = stream.read() if stream else b""
    if len(data) != member.size:
        raise EOFError
    return data


def _refuse(line: str) -> NoReturn:
    plain = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line)  # it may quote the bundle
    print(plain[:MOST_LINE_CHARS], file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
