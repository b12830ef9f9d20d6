# SPDX-License-Identifier: GPL-2.0-or-later
"""Each figure as a command: python -m lab.figures.NAME RUN_DIR OUT_DIR [--replay LIBRARY]."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from lab.figures.save import save
from lab.figures.style import Drawing, footnote
from lab.figures.subject import Subject, subjects
from lab.judge.judged import judged
from lab.judge.provenance import provenance
from lab.judge.stored import Stored
from lab.tables.stored_run import Run


def draw_subjects(name: str, draw: Callable[[Subject], Drawing | None]) -> None:
    """Draw the figure of each sender's representative trial of RUN_DIR into OUT_DIR."""
    arguments = parser(name).parse_args()
    run = Run(arguments.run_dir)
    arguments.out_dir.mkdir(parents=True, exist_ok=True)
    for subject in subjects(run, judged(run).outcomes, arguments.replay):
        drawing = draw(subject)
        if drawing is not None:
            footnote(drawing.figure, provenance(run.meta["profile"]))
            print(*save(drawing.figure, arguments.out_dir / f"{name}-{subject.sender.name}"))


def draw_run(name: str, draw: Callable[[Stored], Drawing]) -> None:
    """Draw one figure over all trials of RUN_DIR into OUT_DIR."""
    arguments = parser(name).parse_args()
    stored = Stored.of(Run(arguments.run_dir))
    arguments.out_dir.mkdir(parents=True, exist_ok=True)
    drawing = draw(stored)
    footnote(drawing.figure, provenance(stored.run.meta["profile"]))
    print(*save(drawing.figure, arguments.out_dir / name))


def draw_together(name: str, draw: Callable[[Sequence[Subject]], Drawing]) -> None:
    """Draw one figure of all senders' representative trials of RUN_DIR into OUT_DIR."""
    arguments = parser(name).parse_args()
    run = Run(arguments.run_dir)
    arguments.out_dir.mkdir(parents=True, exist_ok=True)
    drawing = draw(list(subjects(run, judged(run).outcomes, arguments.replay)))
    footnote(drawing.figure, provenance(run.meta["profile"]))
    print(*save(drawing.figure, arguments.out_dir / name))


def draw_runs(name: str, draw: Callable[[Sequence[Stored]], Drawing | None]) -> None:
    """Draw one figure over the trials of several runs: RUN_DIR... OUT_DIR."""
    arguments = argparse.ArgumentParser(prog=f"python -m lab.figures.{name}")
    arguments.add_argument("run_dir", type=Path, nargs="+", help="stored runs, such as results/thesis-geo/latest")
    arguments.add_argument("out_dir", type=Path, help="where the .svg and .png go")
    given = arguments.parse_args()
    given.out_dir.mkdir(parents=True, exist_ok=True)
    drawing = draw([Stored.of(Run(folder)) for folder in given.run_dir])
    if drawing is not None:
        print(*save(drawing.figure, given.out_dir / name))


def parser(name: str) -> argparse.ArgumentParser:
    """Return the arguments that all figures share."""
    arguments = argparse.ArgumentParser(prog=f"python -m lab.figures.{name}")
    arguments.add_argument("run_dir", type=Path, help="a stored run, such as results/geo/latest")
    arguments.add_argument("out_dir", type=Path, help="where the .svg and .png go")
    arguments.add_argument(
        "--replay", type=Path, help="the compiled SEARCH core, to replay it over other senders' ACKs"
    )
    return arguments
