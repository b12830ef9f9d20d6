# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of a run's report, and what they are made from."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from lab.base.errors import UserError
from lab.base.plain_file import require_folder
from lab.report.kept import key_of
from lab.tables.digests import SUMS, digest_of, read_digests

PAGE, FIGURES, TABLES = "report.html", "figures", "tables"
FORMS = ("svg", "png", "pdf")  # the page shows the first one, which is always drawn


@dataclass(frozen=True)
class Basis:
    """What a report is made from; `key` is the digest of every byte of it, and of the code."""

    run_dir: Path
    forms: frozenset[str]
    key: str

    @classmethod
    def of(cls, run_dir: Path, forms: Collection[str]) -> "Basis":
        """Read the run; a form of figures that lies there from before would be out of date, if it were not drawn."""
        for name in (FIGURES, TABLES):
            require_folder(run_dir / name)
        drawn = {file.suffix[1:] for file in (run_dir / FIGURES).glob("*.*")}
        wanted = frozenset(form for form in FORMS if form in (FORMS[0], *forms, *drawn))
        return cls(run_dir, wanted, key_of(_state(run_dir.resolve()), sorted(wanted)))


def _state(run_dir: Path) -> list[tuple[str, str]]:
    """Return the digest of each stored file of a run: of a trial's those of which it has stored the digest."""
    trials = [*(run_dir / "trials").glob("[!.]*/")]
    files = [*run_dir.glob("run.json*"), *trials, *(file for trial in trials for file in _stored(trial))]
    return sorted((str(file), _digest_or_fault(file)) for file in files)


def _stored(trial: Path) -> list[Path]:
    try:
        return [trial / SUMS, *(trial / name for name in read_digests(trial / SUMS))]
    except (OSError, UserError):
        return [trial / SUMS]


def _digest_or_fault(file: Path) -> str:
    try:
        return "link" if file.is_symlink() else "folder" if file.is_dir() else digest_of(file)
    except (OSError, UserError) as error:
        return str(error)
