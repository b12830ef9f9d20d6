# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison's own folder, and comparison.json in it: what was requested, so that `--resume` goes on with the same.

Its runs are ordinary runs, one per link, that began no earlier than it.
"""

import json
import sys
from pathlib import Path
from typing import Annotated, NotRequired, TypedDict

from lab.base import paths
from lab.base.errors import UserError
from lab.runs.experiment import digest, specification
from lab.runs.find_run import require_same
from lab.runs.run_folder import dated_folder
from lab.tables.digests import write_with_digest
from lab.tables.stored_trial import FORMAT, read_json
from lab_compare.comparison import Comparison

FOLDER, FILE = "comparisons", "comparison.json"
NO_REQUEST = ("format", "command", "complete")  # fields of comparison.json


class ComparisonJson(TypedDict):
    """comparison.json."""

    format: Annotated[int, "version of the stored form"]
    measure: Annotated[str, "what decides when a link has enough trials"]
    trials: Annotated[int, "most trials of each sender on each link"]
    fixed: NotRequired[Annotated[bool, "whether each link has all these trials; absent: no"]]
    seed: Annotated[int, "seed of the links' random draws"]
    subjects: Annotated[list[str], "the senders that each other one is tested against"]
    senders: Annotated[dict[str, str], "digest of each sender: its stanza, and its module where that is not the lab's"]
    links: Annotated[dict[str, str], "digest of each link: its profile, and what its trials need"]
    command: Annotated[list[str], "the command that began the comparison"]
    complete: Annotated[bool, "whether each link has enough trials, or all"]


def requested(comparison: Comparison, measure: str) -> ComparisonJson:
    """Return what a comparison requests."""
    parts = {link.name: specification(comparison.experiment(link, 1)) for link in comparison.links}
    return {
        "format": FORMAT,
        "measure": measure,
        "trials": comparison.trials,
        "fixed": comparison.fixed,
        "seed": comparison.seed,
        "subjects": list(comparison.subjects),
        "senders": {name: digest(cca.model_dump()) for name, cca in comparison.senders.items()},
        "links": {name: digest([part["profile"], part["scenario"]]) for name, part in parts.items()},
        "command": sys.argv,
        "complete": False,
    }


def begin(request: ComparisonJson) -> Path:
    """Create the folder of a new comparison."""
    folder = dated_folder(paths.results() / FOLDER)
    write(folder, request)
    return folder


def write(folder: Path, request: ComparisonJson) -> None:
    """Store comparison.json."""
    write_with_digest(folder / FILE, json.dumps(request, indent=1).encode())


def read(folder: Path) -> ComparisonJson:
    """Read comparison.json."""
    content: ComparisonJson = read_json(folder / FILE, ComparisonJson)
    return content


def resumed(request: ComparisonJson) -> Path:
    """Return the newest comparison; UserError where there is none, or where it requests something else."""
    folder = paths.results() / FOLDER
    newest = max((file.parent for file in folder.glob(f"[0-9]*/{FILE}")), default=None)
    if newest is None:
        raise UserError(f"{folder}: no comparison to resume: run without --resume")
    before, now = (
        {name: value for name, value in {"fixed": False, **each}.items() if name not in NO_REQUEST}
        for each in (read(newest), request)
    )
    require_same(newest / FILE, "", before, now)
    return newest
