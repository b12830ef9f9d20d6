# SPDX-License-Identifier: GPL-2.0-or-later
"""The digest of the code that judges: the outcome, a trial's digest, every rule, and what they import of the lab."""

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from lab.base.paths import LAB, REPO
from lab.schema.heuristics import rule_files

ROOTS = (LAB / "judge" / "outcome.py", LAB / "judge" / "digest.py")
# The registry, the models of the user's files and the errors decide what may be judged, not what is found.
NO_PART = (LAB / "judge" / "registry.py", LAB / "schema", LAB / "base")
PART = (LAB / "base" / "stats.py",)
IMPORT = re.compile(r"^\s*from (lab[.\w]*) import (\([^)]*\)|.*)", re.MULTILINE)  # to parse takes ten times as long


def judging_digest() -> str:
    """Return the digest of the source from which a trial's outcome follows."""
    return _digest((*ROOTS, *rule_files().values()))


@cache
def _digest(roots: tuple[Path, ...]) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in judging_files(roots))).hexdigest()


def judging_files(roots: tuple[Path, ...]) -> list[Path]:
    """Return the roots and every file of the lab that they import, directly or not, each once."""
    found: set[Path] = set()
    waiting = list(roots)
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += [new for new in _imports(file) if new in PART or not any(map(new.is_relative_to, NO_PART))]
    return sorted(found)


def _imports(file: Path) -> Iterator[Path]:
    """Yield the files of the lab that a file imports."""
    for name, imported in IMPORT.findall(file.read_text(encoding="utf-8")):
        module = REPO.joinpath(*name.split("."))
        files = [module.with_suffix(".py"), *(module / f"{each}.py" for each in re.findall(r"\w+", imported))]
        yield from (file for file in files if file.is_file())
