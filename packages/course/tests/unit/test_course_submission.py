# SPDX-License-Identifier: GPL-2.0-or-later
"""Submissions of strangers: one clear line per fault, the rest is read, and nothing outside is."""

import gzip
import io
import os
import stat
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from lab_course import archive
from lab_course.assignment import Assignment
from lab_course.seeds import public_seed
from lab_course.submission import open_submission, student_file
from small_assignment import handed_in, many_empty, small_assignment, tarred, zipped

from lab.base.errors import UserError
from tests.brief import folder_at, put

LINK = stat.S_IFLNK | 0o777
OWN = b"// mine\n"


@pytest.fixture
def small(tmp_path: Path) -> Assignment:
    return small_assignment(tmp_path / "course" / "1-small")


def test_a_folder_is_read_and_its_student_is_known(tmp_path: Path, small: Assignment) -> None:
    found = open_submission(handed_in(tmp_path / "in", own__c="// mine\n"), small)
    assert (found.student, found.files, found.faults) == ("s1", {"own.c": OWN}, [])


def test_an_empty_folder_misses_its_file_and_is_named_by_itself(tmp_path: Path, small: Assignment) -> None:
    (tmp_path / "s77").mkdir()
    found = open_submission(tmp_path / "s77", small)
    assert found.student == "s77"
    assert found.faults == ["student.yml: must be handed in: graded as s77", "own.c: must be handed in"]


@pytest.mark.parametrize(
    ("own", "fault"), [(None, "student.yml: must be handed in"), ("student: [1]\nseed: 1\n", "student.yml: student=")]
)
def test_a_submission_that_nobody_is_named_by_is_refused_and_not_graded_with_the_draws_of_another(
    tmp_path: Path, small: Assignment, own: str | None, fault: str
) -> None:
    folder = folder_at(tmp_path / "Müller, Jörg_1234_file_")
    if own:
        (folder / "student.yml").write_text(own)
    with pytest.raises(UserError, match=r"nor is 'Müller, Jörg_1234_file_' a student's ID: rename it") as refused:
        open_submission(folder, small)
    assert str(refused.value).startswith(fault)
    assert open_submission(folder, small, "s1").student == "s1"


def test_a_zip_with_links_and_absolute_paths_loses_these_alone(tmp_path: Path, small: Assignment) -> None:
    members: dict[str, bytes | tuple[bytes, int]] = {
        "a/own.c": OWN,
        "/etc/answers.yml": b"x: 1\n",
        "../answers.yml": b"x: 2\n",
        "answers.yml": (b"/etc/passwd", LINK),
    }
    found = open_submission(zipped(tmp_path / "in.zip", members), small, "s1")
    assert found.files == {"own.c": OWN}
    assert found.faults == [
        "/etc/answers.yml: must be a name inside the submission: it is not read",
        "../answers.yml: must be a name inside the submission: it is not read",
        "answers.yml: must be a plain file, no link or device: it is not read",
    ]


def test_a_tar_with_a_link_loses_the_link_alone(tmp_path: Path, small: Assignment) -> None:
    file = tarred(tmp_path / "s2.tar.gz", {"./own.c": OWN}, {"answers.yml": "/etc/passwd"})
    found = open_submission(file, small)
    assert found.files == {"own.c": OWN}
    assert found.faults[0] == "answers.yml: must be a plain file, no link or device: it is not read"
    assert found.student == "s2"


def test_what_the_lab_writes_into_a_students_folder_is_no_part_of_it(tmp_path: Path, small: Assignment) -> None:
    folder = handed_in(tmp_path / "in", own__c=OWN.decode())
    (folder / "results" / "try-geo" / "run-1").mkdir(parents=True)
    (folder / "results" / "try-geo" / "latest").symlink_to("run-1")
    (folder / "results" / "own.c").write_text("// not mine")
    as_tar = tarred(tmp_path / "in.tar.gz", {"x/own.c": OWN, "x/results/own.c": b""}, {"x/results/latest": "run-1"})
    as_zip = zipped(tmp_path / "in.zip", {"own.c": OWN, "grade/own.c": b"", "results/latest": (b"run-1", LINK)})
    for submission in (folder, as_tar, as_zip):
        found = open_submission(submission, small, "s1")
        assert (found.files, found.faults) == ({"own.c": OWN}, [])


def test_a_link_and_a_pipe_in_a_folder_are_not_opened(tmp_path: Path, small: Assignment) -> None:
    folder = handed_in(tmp_path / "in")
    secret = put(tmp_path / "secret", "geheim")
    (folder / "own.c").symlink_to(secret)
    os.mkfifo(folder / "answers.yml")
    found = open_submission(folder, small)
    assert found.files == {}
    assert [fault.partition(":")[0] for fault in found.faults] == ["answers.yml", "own.c", "own.c"]


def test_a_file_of_two_gigabytes_is_refused_unread(tmp_path: Path, small: Assignment) -> None:
    folder = handed_in(tmp_path / "in", answers__yml="x: 1\n")
    with (folder / "own.c").open("wb") as file:
        file.truncate(2 << 30)
    found = open_submission(folder, small)
    assert list(found.files) == ["answers.yml"]
    assert found.faults[0] == "own.c: bytes=2147483648: must be at most 20000: it is not read"


def test_a_zip_bomb_is_refused_by_its_size(tmp_path: Path, small: Assignment) -> None:
    found = open_submission(zipped(tmp_path / "in.zip", {"own.c": bytes(50_000_000)}), small, "s1")
    assert found.faults[0] == "own.c: bytes=50000000: must be at most 20000: it is not read"


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_of_another_method_loses_that_file_alone(tmp_path: Path, small: Assignment, method: int) -> None:
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.writestr("answers.yml", "x: 1\n")
        archive.writestr("own.c", "int x;\n" * 100, compress_type=method)
    found = open_submission(tmp_path / "in.zip", small, "s1")
    assert "own.c: must be stored or deflated in the zip: it is not read" in found.faults
    assert found.text("answers.yml") == "x: 1\n"


def test_a_zip_bomb_with_a_false_header_is_refused_too(tmp_path: Path, small: Assignment) -> None:
    file = zipped(tmp_path / "in.zip", {"own.c": bytes(5_000_000)})
    content = file.read_bytes()
    size = (5_000_000).to_bytes(4, "little")
    assert content.count(size) == 2
    file.write_bytes(content.replace(size, (100).to_bytes(4, "little")))
    found = open_submission(file, small, "s1")
    assert "own.c" not in found.files
    assert found.faults[0].startswith("own.c: ")


def test_a_zip_of_a_million_empty_files_is_refused_before_its_list_is_read(tmp_path: Path, small: Assignment) -> None:
    many_empty(tmp_path / "in.zip", 1_000_000)
    tracemalloc.start()
    line = r"in\.zip: directory_bytes=47000000: must be at most 2097152: fewer files"
    with pytest.raises(UserError, match=line):
        open_submission(tmp_path / "in.zip", small)
    assert tracemalloc.get_traced_memory()[1] < 4 << 20
    tracemalloc.stop()


def test_a_zip_of_so_many_files_as_are_read_is_not_refused(tmp_path: Path, small: Assignment) -> None:
    many_empty(tmp_path / "in.zip", archive.MOST_ENTRIES)
    assert "own.c: must be handed in: there is x" in open_submission(tmp_path / "in.zip", small, "s1").faults


def test_wanted_files_are_read_up_to_their_bound_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand notebooks of 4 MB each are 40 MB as a zip."""
    monkeypatch.setattr(archive, "MOST_UNPACKED_BYTES", 50_000)
    file = zipped(tmp_path / "in.zip", {f"{number}/own.c": bytes(20_000) for number in range(9)})
    found = archive.read(file, {"own.c": 20_000})
    assert len(found) == 4
    assert found[-1] == "bytes: must be at most 50000 in all: the rest is not read"


def test_a_tar_bomb_ends_the_reading(tmp_path: Path, small: Assignment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_UNPACKED_BYTES", 1 << 20)
    file = tarred(tmp_path / "in.tar.gz", {"big": bytes(2 << 20), "own.c": OWN})
    with pytest.raises(UserError, match=r"in\.tar\.gz: bytes=more than 1048576: must be at most 1048576 when unpacked"):
        open_submission(file, small)


SPARSE = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "5"}


@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["tar", "tar.gz"])
@pytest.mark.parametrize("what", ["a sparse file", "too large to convert|cannot fit 'int'"])
def test_a_tar_whose_headers_are_a_bomb_is_refused_before_they_are_read(
    tmp_path: Path, small: Assignment, packed: Callable[[bytes], bytes], what: str
) -> None:
    """A map of millions of pieces, which takes a gigabyte of memory; and a size beyond all."""
    if what == "a sparse file":
        pieces = b"5000000\n" + b"0\n0\n" * 5_000_000
        with io.BytesIO() as stream, tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
            member = tarfile.TarInfo("own.c")
            member.pax_headers, member.size = SPARSE, len(pieces)
            tar.addfile(member, io.BytesIO(pieces))
            content = stream.getvalue()
    else:
        member = tarfile.TarInfo("own.c")
        member.size = 8 << 60
        content = member.tobuf(tarfile.GNU_FORMAT) + bytes(1024)
    (tmp_path / "in.tar").write_bytes(packed(content))
    with pytest.raises(UserError, match=rf"in\.tar: .*({what}).*: must be a folder, \.zip or \.tar\.gz, and whole"):
        open_submission(tmp_path / "in.tar", small)


def test_what_is_no_archive_is_one_line(tmp_path: Path, small: Assignment) -> None:
    for content in (b"", b"not an archive", b"PK\x03\x04 cut", b"\x1f\x8b cut"):
        (tmp_path / "in.zip").write_bytes(content)
        with pytest.raises(UserError, match=r"in\.zip: .*must be a folder, \.zip or \.tar\.gz, and whole"):
            open_submission(tmp_path / "in.zip", small)
    with pytest.raises(UserError, match=r"nowhere: No such file or directory: must be a folder, \.zip or \.tar\.gz"):
        open_submission(tmp_path / "nowhere", small)
    (tmp_path / "link").symlink_to(tmp_path / "in.zip")
    with pytest.raises(UserError, match=r"link: must be a folder, \.zip or \.tar\.gz, and no link"):
        open_submission(tmp_path / "link", small)


def test_an_encrypted_zip_is_one_line(tmp_path: Path, small: Assignment) -> None:
    file = zipped(tmp_path / "in.zip", {"own.c": OWN})
    content = bytearray(file.read_bytes())
    for place in (content.index(b"PK\x03\x04") + 6, content.index(b"PK\x01\x02") + 8):
        content[place] |= 1
    file.write_bytes(bytes(content))
    found = open_submission(file, small, "s1")
    assert found.faults[0] == "own.c: must be readable without a password: it is not read"
    assert zipfile.ZipFile(file).namelist() == ["own.c"]


def test_a_member_of_a_zip_without_a_name_is_no_file_of_the_assignment(tmp_path: Path, small: Assignment) -> None:
    file = zipped(tmp_path / "in.zip", {"nameless": b"", "own.c": OWN})
    file.write_bytes(file.read_bytes().replace(b"nameless", b"\0ameless"))
    found = open_submission(file, small, "s1")
    assert found.files == {"own.c": OWN}


def test_of_two_files_of_one_name_the_outer_one_is_read(tmp_path: Path, small: Assignment) -> None:
    found = open_submission(zipped(tmp_path / "in.zip", {"old/own.c": b"// old\n", "own.c": OWN}), small, "s1")
    assert found.files == {"own.c": OWN}
    assert found.faults == ["old/own.c: must stand once: own.c is graded"]


def test_an_edited_seed_is_named_and_replaced(tmp_path: Path, small: Assignment) -> None:
    folder = handed_in(tmp_path / "in", own__c="")
    (folder / "student.yml").write_text("student: s1\nseed: 7\n")
    right = public_seed("small", "s1")
    fault = f"student.yml: seed=7: must be {right}, the seed of s1: graded with {right}"
    assert open_submission(folder, small).faults == [fault]


@pytest.mark.parametrize("student", ["123456", "0123", "1e5", "no", "2026-11-27", "0x1F"])
def test_the_file_of_a_student_whose_id_may_be_a_number(tmp_path: Path, small: Assignment, student: str) -> None:
    """It is read by the lab, and by a notebook, which has YAML 1.1 alone."""
    folder = handed_in(tmp_path / "in", own__c="")
    text = student_file(small, student)
    (folder / "student.yml").write_text(text)
    found = open_submission(folder, small)
    assert (found.student, found.faults) == (student, [])
    assert yaml.safe_load(text)["student"] == student


def test_another_students_file_is_named(tmp_path: Path, small: Assignment) -> None:
    found = open_submission(handed_in(tmp_path / "in", "s2", own__c=""), small, "s1")
    assert found.student == "s1"
    assert found.faults[0] == "student.yml: student=s2: must be s1: graded as s1"


@pytest.mark.parametrize("text", ["student: [\n", "student: ../../x\nseed: 1\n", "nothing", "student: s1\nseed: x\n"])
def test_a_broken_student_file_costs_one_line(tmp_path: Path, small: Assignment, text: str) -> None:
    folder = handed_in(tmp_path / "s9", own__c="")
    (folder / "student.yml").write_text(text)
    found = open_submission(folder, small)
    assert found.student == "s9"
    assert len(found.faults) == 1
    assert found.faults[0].startswith("student.yml: ")


def test_ten_thousand_files_end_the_reading(tmp_path: Path, small: Assignment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_ENTRIES", 50)
    folder = handed_in(tmp_path / "in", own__c="")
    for number in range(100):
        (folder / f"a{number:03d}").touch()
    assert "entries: must be at most 50: the rest is not read" in open_submission(folder, small).faults
