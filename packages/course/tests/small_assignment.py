# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests of the course share: an assignment of their own, and submissions."""

import io
import struct
import tarfile
import zipfile
from pathlib import Path

from lab_course.assignment import Assignment, load_assignment
from lab_course.seeds import public_seed

from tests.brief import put

YML = """name: small
title: A small assignment
human_minutes: 10
machine_minutes: 1
hand_in:
  - {file: own.c, most_bytes: 20000}
  - {file: answers.yml, most_bytes: 2000, required: false}
  - {file: notebook.ipynb, most_bytes: 20000, required: false}
checks:
  - {id: answer, title: The answer, points: 10, part: public}
  - {id: again, title: The answer once more, points: 5, part: hidden}
"""
CHECKS = """from lab_course.marks import full, none


def check_answer(work):
    right = work.answers.number("x") == work.seed() % 100
    return full("Right.") if right else none("Wrong: look at packet 7.", "packet 7")
"""
HIDDEN = CHECKS.replace("check_answer", "check_again")


def small_assignment(folder: Path, yml: str = YML, checks: str = CHECKS, hidden: str | None = HIDDEN) -> Assignment:
    put(folder / "start" / "own.c", "// yours\n")
    (folder / "handout.md").write_text("# Handout\n")
    (folder / "assignment.yml").write_text(yml)
    (folder / "checks.py").write_text(checks)
    if hidden is not None:
        (folder / "teacher" / "solution").mkdir(parents=True)
        (folder / "teacher" / "hidden.py").write_text(hidden)
        (folder / "teacher" / "solution" / "own.c").write_text("// the secret solution\n")
    return load_assignment(folder)


def handed_in(folder: Path, student: str = "s1", **files: str) -> Path:
    """Write a submission as a folder: files by name, with __ for the dot."""
    put(folder / "student.yml", f"student: {student}\nseed: {public_seed('small', student)}\n")
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content)
    return folder


def zipped(file: Path, members: dict[str, bytes | tuple[bytes, int]]) -> Path:
    """Write a zip; a member's mode decides what it is."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, given in members.items():
            content, mode = given if isinstance(given, tuple) else (given, 0o100644)
            info = zipfile.ZipInfo(name)
            info.external_attr, info.compress_type = mode << 16, zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return file


def many_empty(file: Path, count: int) -> None:
    """Write a zip with so many entries of one empty file: as Zip64 where the usual form ends (APPNOTE, 4.3 and 4.4)."""
    local = struct.pack("<4s5H3I2Hs", b"PK\3\4", 20, 0, 0, 0, 33, 0, 0, 0, 1, 0, b"x")
    entry = struct.pack("<4s6H3I5H2Is", b"PK\1\2", 20, 20, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, b"x")
    size, least = count * len(entry), min(count, 0xFFFF)
    large = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, len(local))
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, len(local) + size, 1)
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, least, least, size, len(local), 0)
    file.write_bytes(local + count * entry + (large + locator if least < count else b"") + end)


def tarred(file: Path, members: dict[str, bytes], links: dict[str, str] | None = None) -> Path:
    with tarfile.open(file, "w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return file
