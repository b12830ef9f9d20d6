# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m bench.course_class [COUNT]`: how long the grades of a class take, assignment 3, hidden part included.

The class hands in the solution, the starting point and each typical mistake in turn, each student's with other bytes
and seeds: no module is built before, and no trial is known. The results are a folder of their own.
"""

import csv
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

from lab_course.assignment import STUDENT, Assignment, find_assignment
from lab_course.rehearse import case_names, submission
from lab_course.seeds import make_key
from lab_course.solved import SOLUTION
from lab_course.submission import student_file
from lab_course.whole_class import TABLE

from bench.measured import Figure, measure_and_store
from lab.base import paths
from lab.base.errors import UserError

ASSIGNMENT, STUDENTS, JOBS = "3", 60, 2
TARGET_MIN = 60
COMMAND = "make bench-course"


def hand_in(folder: Path, assignment: Assignment, count: int) -> Iterator[tuple[str, Path]]:
    """Write a class's submissions; yield the case of each, and its folder."""
    names = case_names(assignment)
    for number in range(count):
        name, student = names[number % len(names)], f"student-{number:02d}"
        (folder / student).mkdir(parents=True)
        for file, content in submission(assignment, name).files.items():
            edited = content + f"/* {student}, {time.time_ns()} */\n".encode()
            (folder / student / file).write_bytes(edited)
        (folder / student / STUDENT).write_text(student_file(assignment, student))
        yield name, folder / student


def measure(folder: Path, count: int) -> list[Figure]:
    """Grade a class below a folder; UserError where a submission has no grade, or a solution not all points."""
    assignment = find_assignment(ASSIGNMENT)
    handed_in = list(hand_in(folder / "in", assignment, count))
    make_key(folder / "key")
    began_s = time.monotonic()
    _grade(folder, [path for _, path in handed_in])
    took_min = (time.monotonic() - began_s) / 60
    rows = list(csv.DictReader((folder / "grades" / TABLE).read_text().splitlines()))
    points = {row["student"]: float(row["points"]) for row in rows}
    of_solutions = [points[path.name] for name, path in handed_in if name == SOLUTION]
    if min(of_solutions) < assignment.points:
        raise UserError(f"{SOLUTION}: points={min(of_solutions):g}: must be {assignment.points} for every student")
    trials = len(list((folder / "results" / "course" / "trials").iterdir()))
    return [
        {"name": f"grades of {count} submissions of assignment {ASSIGNMENT}, on {JOBS} processors",
         "value": round(took_min, 1), "unit": "min", "target": str(TARGET_MIN)},
        {"name": "trials that were run", "value": trials, "unit": "trials"},
        {"name": f"solutions among them, all with {assignment.points} points",
         "value": len(of_solutions), "unit": "submissions"},
        {"name": "median of all grades", "value": round(median(points.values()), 2), "unit": "points"},
    ]  # fmt: skip


def _grade(folder: Path, submissions: list[Path]) -> None:
    options = ["--key", str(folder / "key"), "--out", str(folder / "grades"), "--jobs", str(JOBS)]
    command = [sys.executable, "-m", "lab", "grade", ASSIGNMENT, *map(str, submissions), *options]
    environment = {**os.environ, "LAB_RESULTS": str(folder / "results")}
    done = subprocess.run(command, cwd=paths.REPO, env=environment, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise UserError(f"lab grade: {done.stdout.strip()}")


if __name__ == "__main__":
    students = int(sys.argv[1]) if sys.argv[1:] else STUDENTS
    measure_and_store("course", COMMAND, partial(measure, count=students))
