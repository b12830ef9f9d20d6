# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own source: what is read and refused before a build."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from lab_compare.comparison import TRIALS
from lab_try.command import TryRequest
from lab_try.module import source as own_source
from lab_try.module.source import read_source, read_sources

from lab.base.errors import UserError
from tests.brief import error_of, put


def file(folder: Path, name: str, content: str = "") -> Path:
    return put(folder / name, content)


def test_no_trials_are_none_and_not_the_default() -> None:
    asked = [(trials, quick) for trials in (None, 0) for quick in (True, False)]
    counts = [TryRequest((Path("a.c"),), trials=trials, quick=quick).count for trials, quick in asked]
    assert counts == [1, TRIALS, 0, 0]  # a comparison refuses 0


def test_a_file_brings_the_headers_beside_it_that_it_includes(tmp_path: Path) -> None:
    file(tmp_path, "inner.h")
    file(tmp_path, "outer.h", '#include "inner.h"\n')
    file(tmp_path, "unrelated.h")
    found = read_source(
        file(tmp_path, "my_cc.c", '#include <net/tcp.h>\n# include "outer.h"\n#include "slow_start.h"\n')
    )
    assert {*found.files} == {"my_cc.c", "outer.h", "inner.h", "Kbuild"}
    assert found.files["Kbuild"] == b"obj-m := my_cc.o\n"
    assert found.name == "my_cc"


def test_a_folder_is_read_without_what_a_build_left(tmp_path: Path) -> None:
    file(tmp_path, "Makefile", "obj-m := a.o\n")
    for name in ("a.c", "inner/b.h", "a.o", "a.ko", "a.mod.c", "Module.symvers", ".a.o.cmd", ".git/config"):
        file(tmp_path, name)
    assert {*read_source(tmp_path).files} == {"Makefile", "a.c", "inner/b.h"}


def test_a_folder_with_one_c_file_needs_no_kbuild_and_one_with_two_does(tmp_path: Path) -> None:
    file(tmp_path, "only.c")
    assert read_source(tmp_path).files["Kbuild"] == b"obj-m := only.o\n"
    file(tmp_path, "b.c")
    assert "Kbuild=: must be a file with obj-m" in error_of(read_source, tmp_path)


@pytest.mark.parametrize("name", ["my cc.c", "a;b.c", "a$(b).c", "a:b.c", "a#b.c", "a%b.c", "a.mod.c", f"{'a' * 60}.c"])
def test_a_name_that_make_would_not_take_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=r"source=.*: must be a name of at most 50 letters, digits and _ \+ \. -"):
        read_source(file(tmp_path, name))


def test_the_digest_is_of_names_and_contents(tmp_path: Path) -> None:
    first = read_source(file(tmp_path / "first", "my.c", "one"))
    assert read_source(file(tmp_path / "again", "my.c", "one")).digest == first.digest
    assert read_source(file(tmp_path / "edited", "my.c", "two")).digest != first.digest
    assert read_source(file(tmp_path / "renamed", "other.c", "one")).digest != first.digest


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: (folder / "my.h").symlink_to(folder.parent / "secret"), "link=.*secret: must be a file of the"),
        (lambda folder: os.mkfifo(folder / "never.h"), "must be a plain file"),  # and is not opened
        (lambda folder: (folder / "up").symlink_to(folder.parent), "must be a "),  # a link to a folder
    ],
)
def test_what_is_no_plain_file_of_it_is_refused(tmp_path: Path, make: Callable[[Path], object], words: str) -> None:
    file(tmp_path, "secret")
    file(tmp_path / "folder", "my.c")
    make(tmp_path / "folder")
    with pytest.raises(UserError, match=words):
        read_source(tmp_path / "folder")


@pytest.mark.parametrize("name", ["my.txt", "missing"])
def test_what_is_no_c_file_and_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=f"source={tmp_path / name}: must be a .c file, or a folder with a Kbuild"):
        read_source(tmp_path / name)
    assert "my.c: No such file" in error_of(read_source, tmp_path / "my.c")


def test_a_folder_or_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_source, "MOST_FILES", 2)
    for name in ("a.c", "b.h", "c.h"):
        file(tmp_path, name)
    assert "files=3 of 0 bytes: must be at most 2 files" in error_of(read_source, tmp_path)
    monkeypatch.setattr(own_source, "MOST_BYTES", 10)
    assert "bytes=11: must be at most 10" in error_of(read_source, file(tmp_path, "my.c", "x" * 11))


def test_each_module_of_a_kbuild_is_a_source_of_its_own(tmp_path: Path) -> None:
    file(tmp_path, "Makefile", "obj-m := first.o \\\n  second-own.o\nobj-m += third.o\nthird-objs := a.o b.o\n")
    for name in ("first.c", "second-own.c", "a.c", "b.c"):
        file(tmp_path, name, "int x;\n")
    found = read_sources(tmp_path)
    assert [each.name for each in found] == ["first", "second_own", "third"]
    made = [each.files["Makefile"].decode().splitlines()[-1] for each in found]
    assert made == [f"obj-m := $(filter {name}.o,$(obj-m))" for name in ("first", "second-own", "third")]
    assert len({each.digest for each in found}) == 3


def test_a_remark_of_make_names_no_module(tmp_path: Path) -> None:
    file(tmp_path, "Kbuild", "obj-m := my.o # and not old.o\n# obj-m += other.o\n")
    assert len(read_sources(tmp_path)) == 1


@pytest.mark.parametrize(
    ("rules", "kbuild"),
    [
        ("obj-$(CONFIG_MY) += my.o\nccflags-y := -DGAIN=3\n", "Makefile"),
        ("all:\n\tcc my.c\n", "Kbuild"),  # none of the kernel's
    ],
)
def test_flags_are_those_of_the_folder(tmp_path: Path, rules: str, kbuild: str) -> None:
    alone = file(tmp_path, "my.c", "int x;\n")
    makefile = file(tmp_path, "Makefile", rules)
    (found,) = read_sources(tmp_path)
    used = rules + "\n" if kbuild == "Makefile" else ""
    assert (found.files[kbuild].decode(), found.notes) == (f"{used}obj-m := my.o\n", ())
    line = f"{makefile}: warning: its flags are for the folder: my.c alone is built without them"
    assert read_source(alone).notes == ((line,) if used else ())


def test_one_module_of_several_files_is_one_source(tmp_path: Path) -> None:
    file(tmp_path, "Kbuild", "obj-m += my.o\nmy-y := a.o b.o\n")
    file(tmp_path, "a.c")
    assert [each.files["Kbuild"] for each in read_sources(tmp_path)] == [b"obj-m += my.o\nmy-y := a.o b.o\n"]


@pytest.mark.parametrize("content", ["", "\n \n", "/* nothing\n yet */\n// to do\n", "/* no end"])
def test_a_file_without_code_is_named(tmp_path: Path, content: str) -> None:
    path = file(tmp_path, "my.c", content)
    for given in (path, tmp_path):
        assert error_of(read_sources, given).endswith("my.c: content=: must be a module: the file has no code")
