# SPDX-License-Identifier: GPL-2.0-or-later
"""What need not be made again, a report, a notebook or the page of all: what it was made from, its files' digests.

The records lie in the user's cache, and not with the run: a run that came from others says nothing of its report.
"""

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

from lab.base import paths, strict_json
from lab.base.errors import UserError
from lab.base.paths import LAB, REPO
from lab.base.plain_file import MEGABYTE, read_plain, write_whole
from lab.tables.digests import digest_of

FOLDER = "reports"  # of the cache
MOST_RECORDS = 2000  # of some kB each; the oldest go first
LIBRARIES = ("jinja2", "matplotlib", "numpy", "polars", "rich", "scipy")
ADDITIONS = ("LAB_FIGURES", "LAB_RULES", "LAB_WORKLOADS")
SOURCES = (".py", ".j2", ".css", ".js", ".mplstyle", ".yml")


def key_of(*content: object) -> str:
    """Return the digest of some content, of the lab's code and of the user's additions to it."""
    return hashlib.sha256(json.dumps([*content, _code(), _additions()]).encode()).hexdigest()


def kept(folder: Path, key: str) -> list[Path] | None:
    """Return a folder's files that were made from the same and are still as they were written; else none."""
    return None if (record := _same(folder, key)) is None else [folder / name for name in record["files"]]


def keep(folder: Path, key: str, files: Iterable[Path], printed: dict[str, str] | None = None) -> None:
    """Note what a folder's files were made from; a cache that cannot be written costs only time.

    printed: what a terminal showed of it, by the look of the terminal.
    """
    digests = {file.relative_to(folder).as_posix(): digest_of(file) for file in files}
    file = _record(folder)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps({"key": key, "files": digests, "printed": printed or {}}, indent=1))
        records = sorted(file.parent.glob("*.json"), key=lambda each: each.stat().st_mtime)
        for each in records[:-MOST_RECORDS]:
            each.unlink(missing_ok=True)


def printed(folder: Path, key: str, view: str) -> str | None:
    """Return what a terminal of the same view showed of a folder that was made from the same; else nothing."""
    return None if (record := _same(folder, key)) is None else record["printed"].get(view)


def _same(folder: Path, key: str) -> dict[str, dict[str, str]] | None:
    """Return the record of a folder that was made from the same, and of which each file is as it was written."""
    try:
        record = strict_json.loads(read_plain(_record(folder), MEGABYTE))
        files = {folder / name: digest for name, digest in record["files"].items()}
        same = record["key"] == key and all(
            not file.is_symlink() and digest_of(file) == digest for file, digest in files.items()
        )
        return record if same and all(isinstance(text, str) for text in record["printed"].values()) else None
    except (OSError, UserError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _record(folder: Path) -> Path:
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:32]
    return paths.own_cache() / FOLDER / f"{name}.json"


@cache
def _code() -> str:
    """Return the digest of the code of the lab and its packages, and of the libraries that draw."""
    digest = hashlib.sha256("".join(f"{name} {version(name)}\n" for name in LIBRARIES).encode())
    for file in sorted(
        file for room in (LAB, *REPO.glob("packages/*/lab_*")) for file in room.rglob("*") if file.suffix in SOURCES
    ):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _additions() -> list[list[str]]:
    """Return the digests of the user's own figures, rules and workloads."""
    folders = [folder for name in ADDITIONS for folder in paths.with_own(LAB, name)[1:]]
    return [[str(file), digest_of(file)] for folder in folders for file in sorted(folder.glob("*.py"))]
