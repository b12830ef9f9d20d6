# SPDX-License-Identifier: GPL-2.0-or-later
"""An assignment: one folder with what students get, and one below it, teacher/, that they do not."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

from pydantic import Field

from lab.base import paths
from lab.base.additions import load_file
from lab.base.choice import choose
from lab.base.errors import COMMAND_LINE, UserError, field_error
from lab.base.named_files import by_name, shown
from lab.schema.cca import Name
from lab.schema.load import Strict, like, load

COURSE = Path(__file__).resolve().parents[1]
ASSIGNMENTS = COURSE / "assignments"
FILE, CHECKS, TEACHER, HIDDEN, LINKS = "assignment.yml", "checks.py", "teacher", "hidden.py", "links"
START, MADE, HANDOUT, STUDENT = "start", "made.py", "handout.md", "student.yml"
PREFIX = "check_"
PUBLIC, HIDDEN_PART = "public", "hidden"
Part = Literal["public", "hidden"]
Text = Annotated[str, Field(min_length=1)]
Minutes = Annotated[int, Field(ge=1, le=100_000)]
Check = Callable[[Any], Any]  # (Work) -> Marks


class HandIn(Strict):
    """A file that a student hands in."""

    file: Name
    most_bytes: Annotated[int, Field(ge=1, le=16_000_000)] = 100_000
    required: bool = True


class CheckRow(Strict):
    """One check of the rubric."""

    id: Annotated[str, like(r"[a-z][a-z0-9_]{0,49}", "1 to 50 small letters, digits and _, a letter first")]
    title: Text
    points: Annotated[int, Field(ge=1, le=100)]
    part: Part
    confirmed_by: str | None = None  # a hidden check: without any point there, this one's count for nothing


class Content(Strict):
    """The content of assignment.yml."""

    name: Annotated[str, like(r"[a-z0-9][a-z0-9-]{0,59}", "1 to 60 small letters, digits and -, no - first")]
    title: Text
    human_minutes: Minutes
    machine_minutes: Minutes
    hand_in: Annotated[list[HandIn], Field(min_length=1)]
    checks: Annotated[list[CheckRow], Field(min_length=1)]


@dataclass(frozen=True)
class Assignment:
    """A loaded assignment; `number` is that of its folder, or its name where the folder has none."""

    folder: Path
    content: Content

    @property
    def number(self) -> str:
        """Return what a teacher calls it: the 3 of 3-write-an-exit-rule."""
        return self.folder.name.partition("-")[0]

    @property
    def name(self) -> str:
        """Return its name, which seeds are made from."""
        return self.content.name

    @property
    def has_teacher(self) -> bool:
        return (self.folder / TEACHER / HIDDEN).is_file()

    @property
    def runs_code(self) -> bool:
        """Return whether students hand in C, which runs in the kernel under test."""
        return any(each.file.endswith((".c", ".h")) for each in self.content.hand_in)

    def rows(self, part: str) -> list[CheckRow]:
        """Return the rubric of one part."""
        return [row for row in self.content.checks if row.part == part]

    @property
    def points(self) -> int:
        return sum(row.points for row in self.content.checks)

    def checks(self, part: str) -> dict[str, Check]:
        """Import the checks of one part; UserError where one of the rubric is missing, or is not in it."""
        file = self.folder / (CHECKS if part == PUBLIC else f"{TEACHER}/{HIDDEN}")
        module = _imported(file)
        found = {name.removeprefix(PREFIX): getattr(module, name) for name in vars(module) if name.startswith(PREFIX)}
        for row in self.rows(part):
            if row.id not in found:
                raise field_error(shown(file), PREFIX + row.id, "", f"a function: {FILE} has this check")
        for name in found.keys() - {row.id for row in self.rows(part)}:
            raise field_error(shown(file), PREFIX + name, "", f"a check of {FILE} of part {part}")
        return found

    def made(self) -> dict[str, str]:
        """Return the files of the starting point that the assignment's made.py writes, by name."""
        file = self.folder / MADE
        texts: dict[str, str] = _imported(file).files() if file.is_file() else {}
        return texts

    def link_file(self, name: str, part: str) -> Path:
        """Return the file of a link profile of the assignment."""
        folders = [self.folder / LINKS, *([self.folder / TEACHER / LINKS] if part == HIDDEN_PART else [])]
        known = {file.stem: file for folder in folders for file in folder.glob("*.yml")}
        return known[choose("link of the assignment", name, sorted(known), shown(self.folder), LINKS)]


def assignments() -> dict[str, Path]:
    """Return the folder of each assignment by name: in assignments/ or in LAB_COURSE."""
    files = [file for folder in paths.with_own(ASSIGNMENTS, "LAB_COURSE") for file in sorted(folder.glob(f"*/{FILE}"))]
    return {name: file.parent for name, file in by_name(files, lambda file: file.parent.name).items()}


def load_assignment(folder: Path) -> Assignment:
    """Read an assignment's folder; UserError names the first fault."""
    content = load(Content, folder / FILE)
    file = shown(folder / FILE)
    hidden = [row.id for row in content.checks if row.part == HIDDEN_PART]
    for row in content.checks:
        if row.confirmed_by is not None:
            choose("check of the hidden part", row.confirmed_by, hidden, file, f"checks.{row.id}.confirmed_by")
    for field, names in (
        ("checks.id", [row.id for row in content.checks]),
        ("hand_in.file", [hand_in.file for hand_in in content.hand_in]),
    ):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise field_error(file, field, twice, "given once")
    return Assignment(folder.resolve(), content)


def find_assignment(name: str) -> Assignment:
    """Return an assignment by number, by name, or by the path of its folder.

    Its checks are run, so a folder that lies where the teacher is, in a submission even, takes no assignment's name.
    """
    known = assignments()
    found = [folder for each, folder in known.items() if name in (each, each.partition("-")[0])]
    if (Path(name) / FILE).is_file():
        if found and not any(folder.samefile(name) for folder in found):
            raise field_error(COMMAND_LINE, "assignment", name, f"./{name}, or {found[0]}: a folder here has this name")
        return load_assignment(Path(name))
    if len(found) > 1:
        raise field_error(COMMAND_LINE, "assignment", name, f"one of {', '.join(each.name for each in found)}")
    if not found:
        rule = f"a folder with {FILE}, or one of {', '.join(known) or 'none'}"
        raise field_error(COMMAND_LINE, "assignment", name, rule)
    return load_assignment(found[0])


def sibling(file: str, name: str) -> Any:
    """Import another Python file of an assignment, by its stem: from the folder of `file`, or the one above it."""
    folder = Path(file).parent
    files = [each / f"{name}.py" for each in (folder, folder.parent)]
    return _imported(next((each for each in files if each.is_file()), files[0]))


def _imported(file: Path) -> ModuleType:
    """Import a teacher's file, once; it may import lab_course, and the assignment's other files by `sibling`."""
    if not file.is_file():
        raise UserError(f"{shown(file)}: must be the checks of this assignment")
    name = f"lab_course_{abs(hash(str(file.resolve())))}"
    if name in sys.modules:
        return sys.modules[name]
    return load_file(file, name, shown(file))
