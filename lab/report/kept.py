# SPDX-License-Identifier: GPL-2.0-or-later
"""What need not be made again, a report, a notebook or the page of all: what it was made from, its files' digests.

The records lie in the user's cache, and not with the run: a run that came from others says nothing of its report.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

from lab.base import paths, strict_json
from lab.base.errors import UserError
from lab.base.paths import LAB, REPO
from lab.base.plain_file import MEGABYTE, read_plain, write_whole
from lab.tables.digests import digest_of
from lab.tables.stored_run import Run
from lab.tables.stored_trial import FILES

FOLDER = "reports"  # of the cache
MOST_RECORDS = 2000  # of some kB each; the oldest go first
LIBRARIES = ("jinja2", "matplotlib", "numpy", "polars", "rich")
ADDITIONS = ("LAB_FIGURES", "LAB_RULES", "LAB_WORKLOADS")
SOURCES = (".py", ".j2", ".css", ".js", ".mplstyle", ".yml")


def made_from(run: Run, forms: Sequence[str], replay_library: Path | None) -> str:
    """Return the digest of all that a report depends on: the run, the code, and what is requested."""
    trials = [[trial.path.name, *map(trial.digest, FILES)] for trial in run.trials]
    replayed = None if replay_library is None else digest_of(replay_library)
    place = str(run.path.resolve())
    return key_of(place, digest_of(run.path / "run.json"), trials, sorted(forms), replayed)


def key_of(*content: object) -> str:
    """Return the digest of some content, of the lab's code and of the user's additions to it."""
    return hashlib.sha256(json.dumps([*content, _code(), _additions()]).encode()).hexdigest()


def kept(folder: Path, key: str) -> list[Path] | None:
    """Return a folder's files that were made from the same and are still as they were written; else none."""
    try:
        record = strict_json.loads(read_plain(_record(folder), MEGABYTE))
        files = {folder / name: digest for name, digest in record["files"].items()}
        same = record["key"] == key and all(_plain_digest(file) == digest for file, digest in files.items())
    except (OSError, UserError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return list(files) if same else None


def keep(folder: Path, key: str, files: Iterable[Path]) -> None:
    """Note what a folder's files were made from; a cache that cannot be written costs only time."""
    digests = {file.relative_to(folder).as_posix(): digest_of(file) for file in files}
    record = _record(folder)
    with suppress(OSError):
        record.parent.mkdir(parents=True, exist_ok=True)
        write_whole(record, json.dumps({"key": key, "files": digests}, indent=1))
        records = sorted(record.parent.glob("*.json"), key=lambda file: file.stat().st_mtime)
        for file in records[:-MOST_RECORDS]:
            file.unlink(missing_ok=True)


def _record(folder: Path) -> Path:
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:32]
    return paths.cache() / FOLDER / f"{name}.json"


def _plain_digest(file: Path) -> str | None:
    """Return the digest of a file; none of a link, which a report never is."""
    return None if file.is_symlink() or not file.is_file() else digest_of(file)


def _rooms() -> Iterator[Path]:
    """Yield the lab and its packages, whose figures stand on pages too."""
    yield LAB
    yield from REPO.glob("packages/*/lab_*")


@cache
def _code() -> str:
    """Return the digest of the lab's own code, and of the libraries that draw."""
    digest = hashlib.sha256("".join(f"{name} {version(name)}\n" for name in LIBRARIES).encode())
    for file in sorted(file for room in _rooms() for file in room.rglob("*") if file.suffix in SOURCES):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _additions() -> list[list[str]]:
    """Return the digests of the user's own figures, rules and workloads."""
    folders = [folder for name in ADDITIONS for folder in paths.with_own(LAB, name)[1:]]
    return [[str(file), digest_of(file)] for folder in folders for file in sorted(folder.glob("*.py"))]
