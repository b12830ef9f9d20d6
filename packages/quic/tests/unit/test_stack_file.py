# SPDX-License-Identifier: GPL-2.0-or-later
"""A stack's file becomes senders; what the lab cannot run, or should not copy, is refused in one line."""

import json
import os
import shutil
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lab_quic.stack.contract import read
from lab_quic.stack.gather import LIBRARIES, LOADER
from lab_quic.stack.prepared import IDENTITY_AT, own, prepare, stored
from stack_files import written

from lab.base import paths
from lab.base.errors import UserError
from lab.commands.known import require_senders
from lab.runs.experiment import try_link
from lab.runs.plan import draw, make_plan
from lab.schema.cca import load_senders
from lab.senders.named import resolved, sender
from lab.senders.ways import way_of
from tests.brief import error_of, folder_at, put
from tests.conftest import SMALL, experiment_on

CAT = Path(shutil.which("cat") or "").resolve()  # a program of any Debian that needs libc alone


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = folder_at(tmp_path / "cache")
    monkeypatch.setenv("LAB_CACHE", str(folder))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return folder_at(tmp_path / "mine")


def with_program(folder: Path, **fields: Any) -> Path:
    """Write a stack whose server is a program of its own."""
    shutil.copy(CAT, folder / "server")
    return written(folder, server="server {port} {qlog}", **fields)


def test_each_control_is_a_sender_that_no_other_looks_like(folder: Path) -> None:
    senders = own(str(written(folder)))
    assert {cca.name for cca in senders.values()} == {"tiny_stops", "tiny_halves"}
    looks = [cca.look for cca in (*senders.values(), *load_senders().values())]
    assert len(set(looks)) == len(looks)
    assert way_of(senders["stops"]).alone == "a stack of one's own"


@pytest.mark.parametrize("name", ["aioquic", "ngtcp2", "quic-go", "s2n-quic"])
def test_the_examples_are_files_of_stacks_which_send_what_the_route_carries(name: str) -> None:
    stack = read(paths.REPO / "examples" / "stacks" / name / f"{name}.yml")
    assert "{datagram}" in stack.server


@pytest.mark.parametrize(("mtu_bytes", "filled"), [(None, "1472"), (1360, "1332")])
def test_a_command_has_the_size_of_a_full_datagram(folder: Path, mtu_bytes: int | None, filled: str) -> None:
    cca = own(str(written(folder, server="python3 ends.py {port} {datagram} {qlog}")))["stops"]
    experiment = replace(experiment_on(SMALL, "search", mtu_bytes=mtu_bytes), ccas={cca.name: cca})
    plan = make_plan(experiment, cca, draw(experiment, 1))
    assert plan["flows"][0]["stack"]["server"][-2] == filled


def test_the_page_says_where_an_exit_is_estimated(folder: Path) -> None:
    with_log, without = (own(str(written(folder, qlog=qlog)))["stops"] for qlog in ("server.sqlog", None))
    assert with_log.slow_start_exit == "own"
    assert without.slow_start_exit == "estimated"
    assert "estimated from the packets" in without.exit_label
    assert (with_log.label, without.label) == ("tiny 1: stops", "tiny 1: stops, exit estimated")


def test_a_command_line_names_a_stack_by_its_path_or_its_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(folder)
    by_path = sender(f"{file}:stops")
    monkeypatch.chdir(folder)
    assert sender("tiny:stops") == by_path
    monkeypatch.chdir("/")
    monkeypatch.setenv("LAB_STACKS", str(folder))
    assert sender("tiny:stops") == by_path
    experiment = try_link("wired-clean", ["tiny:stops", "search", "tiny:halves"], {})
    assert list(experiment.ccas) == ["tiny_stops", "search", "tiny_halves"]


def test_stacks_of_two_files_do_not_look_alike(folder: Path, tmp_path: Path) -> None:
    other = folder_at(tmp_path / "other")
    files = written(folder), written(other, name="twin")
    _, senders = resolved([f"{file}:stops" for file in files])
    assert senders
    assert senders["tiny_stops"].look != senders["twin_stops"].look


def test_two_versions_of_a_stack_with_one_name_are_refused(folder: Path, tmp_path: Path) -> None:
    other = folder_at(tmp_path / "other")
    files = written(folder), written(other, version="2")
    with pytest.raises(UserError, match="sender=tiny_stops: must be of one file alone: give the other stack another"):
        resolved([f"{file}:stops" for file in files])


def test_a_file_without_a_control_is_read_and_not_taken_for_a_sender_of_the_lab() -> None:
    require_senders("./mystack.yml,search")  # the file is read later, and its controls are named
    assert "cca=mystack: must be a known sender" in error_of(require_senders, "mystack,search")


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("nosuch:cubic", "cca=nosuch: must be the path of a stack's .yml file, or its name in this folder"),
        ("{file}:vegas", "cca=vegas: must be a known control of"),
        ("{file}", "cca=: must be a known control of"),
        ("./nosuch.yml:cubic", "nosuch.yml: No such file or directory: must be a readable file"),
    ],
)
def test_a_name_without_a_stack_is_refused(folder: Path, name: str, rule: str) -> None:
    assert rule in error_of(sender, name.format(file=written(folder)))


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"version": None}, "version=: must be given"),
        ({"version": 1.5}, "version=1.5: must be"),
        ({"version": "$x$"}, "version=$x$: must"),
        ({"name": "Mine"}, "name=Mine: must"),
        ({"controls": []}, "controls="),
        ({"controls": ["cubic; rm"]}, "controls.0=cubic; rm: must"),
        ({"controls": ["a", "a"]}, "controls=a, a: must be a list that names each control once"),
        ({"extra": 1}, "extra="),
        ({"server": "python3 ends.py {address}"}, "server=python3 ends.py {address}: must be a command with {port}"),
        ({"client": "python3 ends.py {port}"}, "must be a command with {address}"),
        ({"server": "python3 'ends.py {port}"}, "must be a command in whole words (No closing quotation)"),
        ({"server": "python3 ends.py {port} {home} {qlog}"}, "must be without {home}: the lab fills {address}, {port}"),
        ({"server": "/usr/bin/env sh {port}"}, "must be a path below the folder of this file"),
        ({"server": "../server {port}"}, "must be a path below the folder of this file"),
        ({"files": ["/etc/shadow"]}, "must be a path below the folder of this file"),
        ({"files": ["a/../../b"]}, "must be a path below the folder of this file"),
        ({"libraries": ["/usr/lib"]}, "must be a path below the folder of this file"),
        ({"server": "python3 ends.py {port}"}, "must be a command, or a variable, with {qlog}, since qlog is given"),
        ({"causes": {"vegas": "delay"}}, "causes=vegas: must be one of its controls"),
        ({"causes": {"stops": "Delay!"}}, "causes.stops=Delay!: must"),
        ({"environment": {"A": "{nosuch}"}}, "must be without {nosuch}"),
        ({"environment": {"A B": "1"}}, "environment"),
        ({"transport": "tcp"}, "transport=tcp: must"),
        ({"server": "server {port} {qlog}"}, "server: No such file or directory: must be a readable file"),
        ({"files": ["nosuch"]}, "nosuch: No such file or directory: must be a readable file"),
    ],
)
def test_a_wrong_field_is_refused_in_one_line(folder: Path, fields: dict[str, Any], rule: str) -> None:
    assert rule in error_of(own, str(written(folder, **fields)))


def test_a_program_comes_with_its_loader_and_every_library_that_it_needs(folder: Path) -> None:
    prepared = prepare(with_program(folder))
    assert prepared.loaded == ("server",)
    libraries = {path.name for path in (prepared.files / LIBRARIES).iterdir()}
    assert {LOADER, "libc.so.6"} <= libraries
    assert (prepared.files / "server").read_bytes() == CAT.read_bytes()
    assert stored(prepared.digest) == prepared


def test_the_digest_is_of_the_content_and_not_of_the_place(folder: Path, tmp_path: Path) -> None:
    elsewhere = folder_at(tmp_path / "elsewhere")
    first, second = prepare(written(folder)), prepare(written(elsewhere))
    (elsewhere / "ends.py").write_text("")
    assert first.digest == second.digest
    assert prepare(elsewhere / "tiny.yml").digest != first.digest


def test_a_library_of_the_stacks_own_comes_before_the_systems(folder: Path) -> None:
    system = prepare(with_program(folder))
    (folder / "lib").mkdir()
    content = (system.files / LIBRARIES / "libc.so.6").read_bytes() + b"its own"
    (folder / "lib" / "libc.so.6").write_bytes(content)
    prepared = prepare(with_program(folder, libraries=["lib"]))
    assert (prepared.files / LIBRARIES / "libc.so.6").read_bytes() == content


def with_machine(number: int) -> bytes:
    """Return a program for another processor."""
    content = bytearray(CAT.read_bytes())
    struct.pack_into("<H", content, 18, number)
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (with_machine(183), "server: processor=AArch64: must be x86-64"),
        (with_machine(9999), "server: processor=9999: must be x86-64"),
        (CAT.read_bytes()[:40], "server: must be a whole ELF file"),
        (CAT.read_bytes()[:200], "server: must be a whole ELF file"),
        (CAT.read_bytes()[:32] + b"\xff" * 8 + CAT.read_bytes()[40:], "server: must be a whole ELF file"),
        (CAT.read_bytes().replace(b"libc.so.6\0", b"libc.so.9\0"), "server: library=libc.so.9: must be in libraries:"),
        (
            CAT.read_bytes().replace(b"libc.so.6\0", b"../so.61\0\0"),
            "library=../so.61: must be a name without a folder",
        ),
    ],
    ids=[
        "processor",
        "unknown processor",
        "cut header",
        "cut segments",
        "segments beyond",
        "missing library",
        "library with a folder",
    ],
)
def test_a_program_that_cannot_run_is_refused_in_one_line(folder: Path, content: bytes, rule: str) -> None:
    file = with_program(folder)
    (folder / "server").write_bytes(content)
    assert rule in error_of(prepare, file)


@pytest.mark.parametrize(
    "fields",
    [
        {"client": "./server {address} {port} {bytes}", "files": ["ends.py", "./ends.py"]},
        {"files": ["server", ".//server/"], "libraries": ["./"]},
        {"files": ["."]},
    ],
    ids=["program and file", "program as a file", "all"],
)
def test_a_path_has_one_meaning_however_it_is_written(folder: Path, fields: dict[str, Any]) -> None:
    put(folder / IDENTITY_AT / "key.pem", "another")
    prepared = prepare(with_program(folder, **fields))
    assert prepared.loaded == ("server",)
    assert "PRIVATE KEY" in (prepared.files / IDENTITY_AT / "key.pem").read_text()


def test_nothing_outside_of_the_stacks_folder_is_copied(folder: Path, tmp_path: Path, cache: Path) -> None:
    secret = folder_at(tmp_path / "secret")
    (secret / "key").write_text("secret")
    rule = "must be a plain file below the folder of this file, without a link out of it"
    for link, target in (("a", secret / "key"), ("b", "../secret/key"), ("c", "/proc/self/environ")):
        (folder / link).symlink_to(target)
        with pytest.raises(UserError, match=rule):
            prepare(written(folder, files=["ends.py", link]))
    os.mkfifo(folder / "d")
    with pytest.raises(UserError, match=rule):
        prepare(written(folder, files=["ends.py", "d"]))
    (folder / "e").symlink_to(secret)
    with pytest.raises(UserError, match=rule):
        prepare(written(folder, files=["e/key"]))
    assert not [path for path in cache.rglob("*") if path.is_file() and b"secret" in path.read_bytes()]


def test_a_folder_comes_without_the_links_to_folders_in_it(folder: Path, tmp_path: Path) -> None:
    put(folder / "site" / "deep" / "a.py", "1")
    (folder / "site" / "out").symlink_to(tmp_path)
    assert "site/out: must be a plain file" in error_of(prepare, written(folder, files=["ends.py", "site"]))
    (folder / "site" / "out").unlink()
    prepared = prepare(written(folder, files=["ends.py", "site"]))
    assert (prepared.files / "site/deep/a.py").read_text() == "1"


def test_more_than_the_limit_is_refused_before_it_is_copied(folder: Path, cache: Path) -> None:
    with (folder / "large").open("wb") as file:
        file.truncate(301_000_000)
    with pytest.raises(UserError, match="must be at most 300000000, in at most 20000 files"):
        prepare(written(folder, files=["ends.py", "large"]))
    assert not list(cache.glob("stack-*"))


def test_a_stack_that_left_the_cache_is_named() -> None:
    assert "must be in the cache: name the stack's file again" in error_of(stored, "0123456789abcdef")


def test_a_stacks_contract_is_kept_whole(folder: Path) -> None:
    prepared = prepare(written(folder))
    assert json.loads((prepared.folder / "stack.json").read_text())["stack"]["licence"] == "GPL-2.0-or-later"
