# SPDX-License-Identifier: GPL-2.0-or-later
"""What one student handed in: the assignment's files, each read once into memory, and a line for each fault."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from lab.base.errors import UserError, field_error
from lab.base.plain_text import cut, escaped
from lab.schema.load import Strict, parse, parse_yaml
from lab_course import archive
from lab_course.archive import Entry, Other
from lab_course.assignment import STUDENT, Assignment
from lab_course.seeds import ID, public_seed, require_id

STUDENT_BYTES = 10_000
MOST_FAULTS, MOST_NAMED = 20, 3
PACKED = re.compile(r"\.(zip|tar|tgz|tar\.gz)$", re.IGNORECASE)
NOBODYS = "hand-in|submission"  # what `make hand-in` writes, and a grading service's folder, whoever it is
NAMELESS = "rename it after the student, or give --student with this submission alone"


class StudentFile(Strict):
    """student.yml: whose folder it is, and the student's public seed of the assignment."""

    student: str
    seed: int


@dataclass(frozen=True)
class Submission:
    """Files by name, and the student that they are from; `faults` are lines about what is not read."""

    path: Path
    student: str
    files: dict[str, bytes]
    faults: list[str] = field(default_factory=list)

    def content(self, name: str) -> bytes:
        """Return a file; UserError where it was not handed in."""
        if name not in self.files:
            raise UserError(f"{name}: must be handed in")
        return self.files[name]

    def text(self, name: str) -> str:
        """Return a file as text; UserError where it is no UTF-8."""
        try:
            return self.content(name).decode("utf-8-sig")  # some editors begin with a mark
        except UnicodeDecodeError:
            raise UserError(f"{name}: must be UTF-8 text") from None


def own_name(path: Path) -> str:
    """Name a submission in a line, also where it is given as a dot."""
    return escaped(path.absolute().name)


def open_submission(path: Path, assignment: Assignment, student: str | None = None) -> Submission:
    """Read a submission; a fault in it costs the file that has it.

    student: the ID as the teacher knows it; without it that of student.yml, else the submission's name if it is one.
    """
    sizes = {each.file: each.most_bytes for each in assignment.content.hand_in} | {STUDENT: STUDENT_BYTES}
    found = archive.read(path, sizes)
    files, twice = _by_name([each for each in found if isinstance(each, Entry)])
    own = files.pop(STUDENT, None)
    student, about = _student(path, assignment, student, own)
    faults = [each for each in found if isinstance(each, str)] + twice
    if len(faults) > MOST_FAULTS:
        faults = [*faults[:MOST_FAULTS], f"faults: {len(faults) - MOST_FAULTS} more"]
    faults += about + _missing(assignment, files, [each.name for each in found if isinstance(each, Other)])
    return Submission(path, student, files, faults)


def _missing(assignment: Assignment, files: dict[str, bytes], others: list[str]) -> list[str]:
    """Return a line for each file that must be there, or for all where none is; it names what is there instead."""
    wanted = assignment.content.hand_in
    missing = [each.file for each in wanted if each.required and each.file not in files]
    if not files and not missing:
        missing = [" or ".join(each.file for each in wanted)]
    alike = tuple(Path(each.file).stem.lower() for each in wanted)
    own = sorted(dict.fromkeys(others), key=lambda name: not name.rpartition("/")[2].lower().startswith(alike))
    more = f" and {len(own) - MOST_NAMED} more" if len(own) > MOST_NAMED else ""
    there = f": there is {', '.join(own[:MOST_NAMED])}{more}" if own else ""
    return [f"{name}: must be handed in{there}" for name in missing]


def _by_name(entries: list[Entry]) -> tuple[dict[str, bytes], list[str]]:
    """Return the file of each name, and a line where there are several: graded is the one in the fewest folders.

    Of two that have the same path the last one stands, as a program that unpacks them leaves it.
    """
    unpacked = {entry.name: entry for entry in entries}
    chosen: dict[str, Entry] = {}
    faults = []
    for entry in sorted(entries, key=lambda each: (len(each.name.parts), each.name)):
        graded = chosen.setdefault(entry.name.name, unpacked[entry.name])
        if entry.content != graded.content:
            which = "the last one" if entry.name == graded.name else cut(escaped(str(graded.name)), 80)
            faults.append(f"{cut(escaped(str(entry.name)), 80)}: must stand once: {which} is graded")
    return {name: entry.content for name, entry in chosen.items()}, faults


def _student(path: Path, assignment: Assignment, known: str | None, own: bytes | None) -> tuple[str, list[str]]:
    """Return the student's ID, and a line where student.yml is missing or was edited.

    UserError where nothing says whose it is: seeds are a student's, so a grade by those of another would be wrong.
    """
    stem = PACKED.sub("", Path(os.path.realpath(path)).name)
    everybodys = re.fullmatch(rf"{NOBODYS}|(\d+-)?{re.escape(assignment.name)}", stem)
    usual = known or (stem if ID.fullmatch(stem) and not everybodys else "")
    try:
        if own is None:
            raise UserError(f"{STUDENT}: must be handed in")
        read = _read_student(own)
    except UserError as error:
        if not usual:
            raise UserError(f"{error}: nor is '{cut(escaped(stem), 80)}' a student's ID: {NAMELESS}") from None
        return usual, [] if known and own is None else [f"{error}: graded as {usual}"]
    student, faults = known or read.student, []
    if read.student != student:
        faults.append(f"{field_error(STUDENT, 'student', read.student, student)}: graded as {student}")
    seed = public_seed(assignment.name, student)
    if read.seed != seed:
        edited = field_error(STUDENT, "seed", read.seed, f"{seed}, the seed of {student}")
        faults.append(f"{edited}: graded with {seed}")
    return student, faults


def _read_student(content: bytes) -> StudentFile:
    try:
        loaded = parse_yaml(content.decode("utf-8"), STUDENT)
    except (UnicodeDecodeError, UserError):
        raise UserError(f"{STUDENT}: must be YAML with student and seed, as it was given") from None
    read = parse(StudentFile, loaded, Path(STUDENT))
    require_id(read.student, STUDENT)
    return read


def student_file(assignment: Assignment, student: str) -> str:
    """Return the student.yml of a student's folder."""
    seed = public_seed(assignment.name, student)
    about = "# Whose folder this is. The seed follows from the ID: leave both as they are."
    return f'{about}\nstudent: "{student}"  # in quotes: 0123 alone is a number\nseed: {seed}\n'
