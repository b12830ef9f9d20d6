# SPDX-License-Identifier: GPL-2.0-or-later
"""What an executed notebook was made from: one of which nothing changed is not executed again."""

from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path

from lab.images import image
from lab.kernel import build
from lab.report.kept import key_of
from lab.tables.digests import SUMS, digest_of
from lab_papers.evaluation.kept import FOLDER as EVALUATION

LIBRARIES = ("ipykernel", "jupytext", "papermill")


def notebook_key(file: Path, results: Path, scenarios: Iterable[str], replay_library: Path | None) -> str:
    """Return the digest of all that a notebook can read: its source, stored runs, what was evaluated, the kernel.

    scenarios: those whose runs it reads; none: all.
    """
    names = sorted(set(scenarios)) or ["*"]
    runs = [file for name in names for file in sorted(results.glob(f"{name}/*/run.json"))]
    stored = [part for run in runs for part in _stored(run)]
    read = [*stored, *sorted((results / EVALUATION).glob("*")), *([replay_library] if replay_library else ())]
    used = [version(name) for name in LIBRARIES]
    built = [str(build.find()), str(image.find("world"))]
    return key_of(str(results), digest_of(file), [[str(one), digest_of(one)] for one in read], used, built)


def _stored(run: Path) -> Iterator[Path]:
    """Yield the files that change with a run: its description, and the digests of each trial (else its record)."""
    yield run
    for trial in sorted(run.parent.glob("trials/*/trial.json")):
        sums = trial.with_name(SUMS)
        yield sums if sums.exists() else trial
