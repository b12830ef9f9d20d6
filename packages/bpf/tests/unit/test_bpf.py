# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH as BPF, without a kernel: each refusal is one line, and streams and archives arrive as they were written."""

import io
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_bpf import prepare
from lab_bpf.loading import loaded, unloaded
from lab_bpf.node import loader, replay
from lab_bpf.program.build import ensure, require_tools
from lab_bpf.stock import Entry, run_stock, write_archive
from lab_bpf.way import BPF
from lab_try.module.build import OwnModule
from lab_try.module.source import OwnSource
from passed_modules import passed

from bench.same_exit.compare import differences, exit_ack, figures
from lab.base.errors import UserError
from lab.runs.experiment import try_link
from lab.schema.cca import load_ccas, load_senders
from lab.senders.ways import prepared
from tests.brief import error_of, put
from tests.command import lab, refused
from tests.own_cache import unbuilt

BTF = b"\x9f\xeb" + loader.KFUNC
LEFT: tuple[int, ...] = (7, 20, 100, 80, 160, 375, 1000, 350, 8)  # a decision that leaves, on ACK 7
STAYED: tuple[int, ...] = (3, 19, 100, 60, 120, 166, 1000, 350, 7)


@pytest.fixture
def btf(tmp_path: Path) -> Path:
    file = tmp_path / "vmlinux"
    file.write_bytes(BTF)
    return file


@pytest.mark.parametrize("release", ["6.12.0", "6.12.117+deb13-cloud-amd64", "7.0-rc1"])
def test_a_stock_kernel_with_btf_can_load_it(btf: Path, release: str) -> None:
    loader.Machine(0, release, btf).require_able("lab senders load")


@pytest.mark.parametrize(
    ("uid", "release", "line"),
    [
        (1000, "6.12.0", "lab senders load: user=1000: must be root: run it with sudo"),
        (0, "6.11.9-generic", "lab senders load: kernel=6.11.9-generic: must be 6.12 or newer"),
        (0, "5.10", "lab senders load: kernel=5.10: must be 6.12 or newer"),
        (0, "strange", "lab senders load: kernel=strange: must be 6.12 or newer"),
    ],
)
def test_a_machine_that_cannot_is_refused_in_one_line(btf: Path, uid: int, release: str, line: str) -> None:
    assert error_of(list, loaded(loader.NAME, "search", lambda: loader.Machine(uid, release, btf))) == line


def test_a_kernel_without_btf_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"/vmlinux: must be there: a kernel with CONFIG_DEBUG_INFO_BTF has it$"):
        list(unloaded(loader.NAME, lambda: loader.Machine(0, "6.12.0", tmp_path / "vmlinux")))


def test_a_kernel_whose_cubic_has_no_functions_for_bpf_is_refused(btf: Path) -> None:
    btf.write_bytes(b"\x9f\xeb")
    with pytest.raises(UserError, match=r"kernel=6\.12\.0: must have CUBIC built in, with its functions for BPF$"):
        list(loaded(loader.NAME, "search", lambda: loader.Machine(0, "6.12.0", btf)))


@pytest.mark.parametrize("version", ["search4", "search31", "", "x y"])
def test_a_version_with_other_hooks_is_refused(btf: Path, version: str) -> None:
    line = f"command line: version={version}: must be one of search, search1, search2_printed, search9, search9_printed"
    for build in (
        lambda: list(loaded(loader.NAME, version, lambda: loader.Machine(0, "6.12.0", btf))),
        lambda: ensure(version),
    ):
        assert error_of(build) == line


def test_another_name_is_refused_by_every_command(tmp_path: Path) -> None:
    for command in ("load", "unload", "exits"):
        line = refused(lab(tmp_path, "senders", command, "search"))
        assert line == "command line: name=search: must be search_bpf"


def test_a_missing_clang_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    with pytest.raises(UserError, match=rf"^{tmp_path}/root/usr/bin/clang: must be there: remove {tmp_path}, and run"):
        require_tools(tmp_path / "root")


def test_a_missing_qemu_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert error_of(run_stock, {}, ("lab_bpf.node.loader",)) == "qemu-system-x86_64: not installed: run 'make setup-vm'"


def test_its_module_is_a_sender_that_looks_like_no_other() -> None:
    own = BPF.senders()
    assert list(own) == [loader.NAME]
    assert not own.keys() & load_ccas().keys()
    assert try_link("wired-clean", [loader.NAME], {}).ccas.keys() == own.keys()
    looks = [(cca.marker, cca.linestyle) for cca in load_senders().values()]
    assert len({*looks}) == len(looks)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            ("search_bpf:", "search:"),
            "name=search: must be another name: lab/cca.yml or packages/quic/lab_quic/quic.yml has it",
        ),
        (("  module: tcp_search_bpf\n", ""), "name=search_bpf: must be given with module: tcp_search_bpf"),
        (('linestyle: "-."', 'linestyle: "-"'), "search_bpf.marker=o: must be another marker or line style"),
    ],
)
def test_a_stanza_that_clashes_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, change: tuple[str, str], line: str
) -> None:
    file = put(tmp_path / "bpf.yml", BPF.file.read_text().replace(*change))
    monkeypatch.setattr(BPF, "file", file)
    assert line in error_of(BPF.senders)


def test_its_module_is_refused_in_real_time(tmp_path: Path) -> None:
    line = refused(lab(tmp_path, *"run --profile wired-clean --cca search_bpf --backend host".split()))
    assert line.startswith("command line: backend=host: must be virtual: search_bpf is a module of the virtual kernel")


def test_streams_arrive_as_they_were_written(tmp_path: Path) -> None:
    streams = [[(1 << 40, -1, 2, 3, 0, 1), (5, 6, 7, 8, 1, 0)], [], [(0, 0, 0, 0, 0, 0)]]
    replay.write_streams(tmp_path / "streams", streams)
    assert [[tuple(row) for row in rows] for rows in replay.read_streams(tmp_path / "streams")] == streams


def test_a_difference_names_stream_and_exit() -> None:
    by = {"core": [[STAYED, LEFT], [STAYED]], "BPF": [[STAYED], [STAYED]]}
    assert list(differences(["geo-1", "geo-2"], by)) == [
        "geo-1: core and BPF: exit on ACK 7 and None, first difference in decision 1"
    ]
    assert [exit_ack(decisions) for decisions in by["core"]] == [7, None]
    counted = {figure["name"]: figure["value"] for figure in figures(["geo-1", "geo-2"], by)}
    assert counted["BPF: exits on another ACK than core's"] == 1
    assert counted["streams that SEARCH leaves"] == 1
    assert list(differences(["geo-1"], {"core": [[LEFT]], "BPF": [[LEFT]]})) == []


def entries_of(archive: bytes) -> Iterator[tuple[str, int, bytes]]:
    """Name, mode and content of each entry, by the layout in cpio(5)."""
    at = 0
    while True:
        assert archive[at : at + 6] == b"070701"
        fields = [int(archive[at + 6 + 8 * number : at + 14 + 8 * number], 16) for number in range(13)]
        content = (at + 110 + fields[11] + 3) // 4 * 4
        name = archive[at + 110 : at + 109 + fields[11]].decode()
        if name == "TRAILER!!!":
            return
        yield name, fields[1], archive[content : content + fields[6]]
        at = (content + fields[6] + 3) // 4 * 4


def test_the_archive_is_one_that_cpio_reads(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"odd")
    (tmp_path / "link").symlink_to("file")
    entries: list[Entry] = [("top", tmp_path), *((f"top/{name}", tmp_path / name) for name in ("file", "link"))]
    stream = io.BytesIO()
    write_archive(stream, [*entries, ("init", b"#!/bin/sh\n")])
    found = {name: (stat.S_IFMT(mode), content) for name, mode, content in entries_of(stream.getvalue())}
    assert found == {
        "top": (stat.S_IFDIR, b""),
        "top/file": (stat.S_IFREG, b"odd"),
        "top/link": (stat.S_IFLNK, b"file"),
        "init": (stat.S_IFREG, b"#!/bin/sh\n"),
    }


def test_search_as_bpf_has_the_module_built_for_its_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The build itself is in packages/bpf/tests/kernel/test_bpf_kernel.py."""
    module = passed(tmp_path / "tcp_search_bpf.c", "search_bpf", depends=("tcp_cubic",)).module
    built: list[tuple[set[str], object]] = []

    def build(source: OwnSource, tree: object) -> OwnModule:
        built.append(({*source.files}, tree))
        return module

    monkeypatch.setattr(prepare, "build_own", build)
    monkeypatch.setattr(prepare, "virtual_tree", lambda kernel: ("tree of", kernel))
    before = unbuilt(tmp_path)
    others = {"cubic": load_ccas()["cubic"]}
    assert prepared(others, before) == (others, before)
    assert built == []
    senders, after = prepared(BPF.senders() | others, before)
    ((files, tree),) = built
    assert "search.bpf.c" in files
    assert tree == ("tree of", before.kernel)
    assert senders["cubic"] == others["cubic"]
    assert (senders["search_bpf"].module_digest, senders["search_bpf"].depends) == (module.source.digest, ["tcp_cubic"])
    assert after.own_modules == {**before.own_modules, module.source.digest: module.file}
