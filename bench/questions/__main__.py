# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the questions that are named, or all; keep the stored answers of the others."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from bench.measured import PUBLISHED, Figure, run_command, store
from bench.questions.answers import rows
from bench.questions.experiments import places, run
from bench.questions.schema import names, question
from lab.base import paths
from lab.base.commit import commit
from lab.kernel.build import find

NAME, COMMAND = "search-answers", "make bench-search"


def main(given: Sequence[str]) -> None:
    """Answer the questions and store all answers."""
    console = Console(highlight=False)
    for name in given or names():
        asked = question(name)
        console.print(f"{name}: {asked.question}", markup=False)
        runs = run(list(places(name, asked)), console)
        kernel = find()
        assert kernel is not None  # the trials had it
        answer = {**asked.model_dump(), "rows": rows(asked, runs, kernel.replay_library), "commit": commit()}
        answers = {**_stored(), name: answer}  # read again: another command may have answered others meanwhile
        _write({each: answers[each] for each in names() if each in answers})
    print(paths.results() / "bench" / f"{NAME}.json")


def _stored() -> dict[str, Any]:
    for file in (paths.results() / "bench" / f"{NAME}.json", PUBLISHED / f"{NAME}.json"):
        if file.is_file():
            stored = json.loads(file.read_text())
            return {name: {"commit": stored["commit"], **answer} for name, answer in stored["answers"].items()}
    return {}


def _write(answers: dict[str, Any]) -> None:
    found: list[Figure] = []
    for name, answer in answers.items():
        tested = [row["separated"] for row in answer["rows"] if row["separated"] is not None]
        found.append({"name": f"{name}: rows", "value": len(answer["rows"]), "unit": ""})
        found.append({"name": f"{name}: separated", "value": sum(tested), "unit": f"of {len(tested)} pairs"})
    store(NAME, COMMAND, found, {"answers": answers})


if __name__ == "__main__":
    run_command(main, sys.argv[1:])
