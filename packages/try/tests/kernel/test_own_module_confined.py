# SPDX-License-Identifier: GPL-2.0-or-later
"""Where bubblewrap cannot work a module is built in a virtual kernel: with the same result, and as closed."""

import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from lab_try import confined
from lab_try.confined import virtual_tree
from lab_try.module import builder
from lab_try.module.build import OwnModule, build_own
from lab_try.module.diagnostics import BuildError
from lab_try.module.source import read_source

from lab.base import sandbox_mode
from lab.base.errors import UserError
from lab.kernel.build import Kernel
from tests.brief import folder_at, put
from tests.own_cache import cache_with
from tests.own_modules import UNBUILDABLE, source, written

HIDDEN = "geheim-4711"
REACHING = """
$(shell for file in {secret} {home}/.profile /etc/shadow /proc/1/root{secret}; do cat $$file; done >{place}/got 2>&1)
$(shell for folder in / /usr /etc /build /build/obj /trial /lab /tmp/interface {folder} {home}; do \
touch $$folder/escaped && echo wrote $$folder; done >>{place}/got 2>/dev/null)
$(shell (exec 3<>/proc/1/mem) 2>/dev/null && echo wrote 1 >>{place}/got)
$(shell cd {place}; ln -s {secret} linked.ko; ln -s {secret} .stripped; cat linked.ko >>got 2>&1)
$(error read: $(shell cat {place}/got))
"""


def built(mode: str, path: Path, kernel: Kernel, cache: Path, patch: pytest.MonkeyPatch) -> OwnModule:
    """Build a source in one mode, with a cache that has no module yet."""
    patch.setenv(sandbox_mode.VARIABLE, mode)
    patch.setenv("LAB_CACHE", str(cache_with(kernel, cache / mode)))
    return build_own(read_source(path), virtual_tree(kernel))


def test_the_module_is_the_same_in_both_modes(tmp_path: Path, kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, source(code="static int gain = 2;\nmodule_param(gain, int, 0444);\nstatic int unused;\n"))
    one, other = (built(mode, file, kernel, tmp_path, monkeypatch) for mode in sandbox_mode.MODES)
    assert one.folder.parent != other.folder.parent
    for part in ("file", "debug_file"):
        assert getattr(one, part).read_bytes() == getattr(other, part).read_bytes()
    assert (one.symbols, one.parameters, one.warnings) == (other.symbols, other.parameters, other.warnings)
    assert one.warnings == (f"{file}:8:12: warning: 'unused' defined but not used",)


@pytest.mark.parametrize("content", ["200 bytes of state", "no licence", "cong_control of before Linux 6.10"])
def test_complaints_and_hints_are_the_same_in_both_modes(
    tmp_path: Path, kernel: Kernel, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    text, line = UNBUILDABLE[content]
    file = written(tmp_path, text)
    lines = []
    for mode in sandbox_mode.MODES:
        with pytest.raises(BuildError, match=line) as refused:
            built(mode, file, kernel, tmp_path, monkeypatch)
        lines.append([str(refused.value), *refused.value.lines])
    assert lines[0] == lines[1]


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    return put(tmp_path / "secret", HIDDEN)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return folder_at(tmp_path / "folder")


@pytest.mark.attack("a Kbuild reads or writes a file of the user")
@pytest.mark.parametrize("mode", sandbox_mode.MODES)
def test_a_kbuild_reaches_no_file_of_the_user(
    tmp_path: Path, secret: Path, folder: Path, kernel: Kernel, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    words = {"secret": secret, "folder": tmp_path, "home": Path.home(), "place": builder.PLACE}
    written(folder, REACHING.format(**words) + "obj-m := own.o\n", "Kbuild")
    written(folder, source())
    with pytest.raises(BuildError, match=r"read: .*No such file") as refused:
        built(mode, folder, kernel, tmp_path, monkeypatch)
    assert HIDDEN not in "".join([str(refused.value), *refused.value.lines])
    in_memory = {"/lab"} if os.geteuid() else set()  # until the sandbox ends; root's builds may not write there
    own = in_memory if mode == sandbox_mode.BUBBLEWRAP else {"/trial"}
    assert set(re.findall(r"wrote (\S+)", str(refused.value))) == own
    assert not [path for path in (tmp_path, folder, Path.home(), tmp_path / mode) if (path / "escaped").exists()]


@pytest.mark.attack("a source takes in a file of the user")
@pytest.mark.parametrize("mode", sandbox_mode.MODES)
@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        ('#include "{secret}"', r"own\.c:6:10: error: .*/secret: No such file or directory"),
        ('asm(".incbin \\"{secret}\\"");', r"own\.c: error: assembler: file not found: .*/secret"),
    ],
)
def test_a_source_cannot_take_in_a_file_of_the_user(
    tmp_path: Path, secret: Path, kernel: Kernel, monkeypatch: pytest.MonkeyPatch, mode: str, line: str, refusal: str
) -> None:
    file = written(tmp_path, source(code=line.format(secret=secret) + "\n"))
    with pytest.raises(BuildError, match=refusal) as refused:
        built(mode, file, kernel, tmp_path, monkeypatch)
    assert HIDDEN not in "".join(refused.value.lines)


@pytest.mark.attack("a build does not end")
@pytest.mark.parametrize("mode", sandbox_mode.MODES)
@pytest.mark.parametrize("line", ["while :; do :; done", "sleep 1000"])
def test_a_build_without_end_is_stopped(
    tmp_path: Path, folder: Path, kernel: Kernel, monkeypatch: pytest.MonkeyPatch, mode: str, line: str
) -> None:
    for module in (builder, confined):
        monkeypatch.setattr(module, "BUILD_S", 3)
    written(folder, f"$(shell cd {builder.PLACE}; {line})\nobj-m := own.o\n", "Kbuild")
    written(folder, source())
    with pytest.raises(UserError, match=r"build: no end after 3 s$"):
        built(mode, folder, kernel, tmp_path, monkeypatch)


@pytest.mark.attack("a build leaves a link to a host's file in place of its result")
@pytest.mark.parametrize("mode", sandbox_mode.MODES)
@pytest.mark.parametrize("link", ["{secret}", "../../../../../../../../..{secret}"])
def test_a_link_in_place_of_a_result_is_not_followed(
    folder: Path, kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, link: str
) -> None:
    with tempfile.NamedTemporaryFile(dir="/tmp") as secret:  # a folder that the sandbox has, too
        secret.write(HIDDEN.encode())
        secret.flush()
        linked = f"$(shell ln -sf {link.format(secret=secret.name)} {builder.PLACE}/.stripped)"
        written(folder, f"{linked}\nobj-m := own.o\n", "Kbuild")
        written(folder, source())
        with pytest.raises(UserError, match=r"build: \.stripped: .*: must be a plain file"):
            built(mode, folder, kernel, tmp_path, monkeypatch)


LEFT = {
    "folders in folders": "i=0; while [ $$i -lt 3000 ] && mkdir d && cd d; do i=$$((i+1)); done",
    "many files": "mkdir many && cd many && seq 100000 | xargs touch",
    "a folder that its owner may not enter": "mkdir shut && touch shut/x && chmod 0 shut",
    "pipes": "mkfifo own.ko .stripped own.mod.c",
    "a hard link": "ln -f /usr/bin/make .stripped; ln -f own.c own.ko",
    "names of several lines": "touch \"`printf 'a\\nb.ko'`\" \"`printf '\\033[2J.ko'`\" \"`printf '\\377.ko'`\"",
    "a sparse file": "truncate -s 255M own.ko .stripped",
    "a folder in place of its result": "mkdir -p own.ko .stripped",
    "a process": "sleep 1000 >/dev/null 2>&1 &",
}


@pytest.mark.attack("a build leaves pipes, folders and files of any number, depth, name and rights")
@pytest.mark.parametrize("mode", sandbox_mode.MODES)
@pytest.mark.parametrize("line", LEFT.values(), ids=LEFT)
def test_what_else_a_build_leaves_is_refused_in_a_line_and_removed(
    tmp_path: Path, folder: Path, kernel: Kernel, monkeypatch: pytest.MonkeyPatch, mode: str, line: str
) -> None:
    written(folder, f"$(shell cd {builder.PLACE}; {line})\nobj-m := own.o\n", "Kbuild")
    written(folder, source())
    lines = []
    try:
        built(mode, folder, kernel, tmp_path, monkeypatch)
    except UserError as refused:
        lines = [*str(refused).split("\n"), *getattr(refused, "lines", [])]
    assert all(line.isprintable() for line in lines)
    assert not [*(tmp_path / mode).glob(".own-*.draft")]


@pytest.mark.attack("a build makes a file that other users may run with the user's rights")
@pytest.mark.parametrize("mode", sandbox_mode.MODES)
def test_a_build_makes_no_file_that_runs_as_its_owner(
    tmp_path: Path, folder: Path, kernel: Kernel, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    line = "cp /bin/sh s; chmod 4755 s; install -m 6755 /bin/sh t; mkdir g; chmod 2777 g; sleep 1"
    written(folder, f"$(shell cd {builder.PLACE}; {line})\nobj-m := own.o\n", "Kbuild")
    written(folder, source())
    found = set[str]()
    with ThreadPoolExecutor() as threads:
        building = threads.submit(built, mode, folder, kernel, tmp_path, monkeypatch)
        while not building.done():
            found |= {name for name, mode in modes(tmp_path) if mode & (stat.S_ISUID | stat.S_ISGID)}
            time.sleep(0.05)
    assert building.result().file.exists()
    assert found == set()


def modes(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the name and the mode of what a folder holds, also while it is removed."""
    for place, folders, files in os.walk(folder):  # rglob of Python 3.11 fails where a folder is gone
        for name in folders + files:
            with suppress(OSError):
                yield name, (Path(place) / name).lstat().st_mode
