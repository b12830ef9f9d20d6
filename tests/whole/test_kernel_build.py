# SPDX-License-Identifier: GPL-2.0-or-later
"""A build that fails reports what failed first and where the log is; what is cached stays."""

import gzip
import re
import tarfile
import tracemalloc
from pathlib import Path

import pytest
from lab_cluster import scheduler as cluster
from typer.testing import CliRunner

from lab.base import paths
from lab.base.errors import UserError
from lab.base.plain_file import MEGABYTE
from lab.commands import prepare
from lab.commands.cli import app
from lab.images import image
from lab.images.refused import refused
from lab.kernel import build
from lab.kernel.build import SOCKETS, with_socket_bytes
from lab.kernel.recipe import Recipe
from lab.kernel.versions import VERSIONS
from tests.brief import error_of, folder_at, put

MERGE = '#!/bin/sh\n# merge_config.sh -m -O DIR BASE FRAGMENT...\nOUT=$3; shift 4; cat "$@" >"$OUT/.config"\n'
MAKEFILE = """
tinyconfig: ; @touch $(O)/.config
olddefconfig: ; @{olddefconfig}
all: ; @echo '  CC      broken.o'; gcc -c broken.c -o $(O)/broken.o
"""
BROKEN = "int first = nowhere;\nint second = elsewhere;\n"


@pytest.fixture
def builder() -> image.Image:
    return image.ensure("builder")


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, builder: image.Image) -> Path:
    """A cache with the built images and no kernel."""
    cache = folder_at(tmp_path / "cache")
    (cache / builder.root.parent.name).symlink_to(builder.root.parent)
    monkeypatch.setenv("LAB_CACHE", str(cache))
    return cache


def tarball(folder: Path, files: dict[str, str]) -> Path:
    """Pack a small tree as kernel sources are packed, below one folder."""
    for name, content in files.items():
        file = put(folder / "linux" / name, content)
        file.chmod(0o755)
    (folder / "linux").mkdir(exist_ok=True)
    packed = folder / "linux.tar"
    with tarfile.open(packed, "w") as tar:
        tar.add(folder / "linux", "linux")
    return packed


def broken_kernel(folder: Path, olddefconfig: str = "true") -> Path:
    files = {
        "Makefile": MAKEFILE.format(olddefconfig=olddefconfig),
        "scripts/kconfig/merge_config.sh": MERGE,
        "broken.c": BROKEN,
    }
    return tarball(folder, files)


def failure(source: Path) -> str:
    return error_of(build.ensure, Recipe(tarball=source))


def test_the_first_error_of_the_compiler_and_the_log_are_reported(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Recipe, "patches", [])
    reported = failure(broken_kernel(tmp_path))
    (log,) = own_cache.glob("kernel-*.log")
    assert reported.startswith("build: make all: broken.c:1:13: error: ")
    assert "nowhere" in reported
    assert reported.endswith(f" (log: {log})")
    assert "elsewhere" in log.read_text()


def test_a_patch_that_does_not_apply_and_a_tarball_that_is_cut_off_are_reported_with_the_log(
    tmp_path: Path, own_cache: Path
) -> None:
    source = broken_kernel(tmp_path)
    reported = failure(source)
    assert reported.startswith("build: patch 0001-um-")
    assert str(own_cache) in reported
    source.write_bytes(source.read_bytes().partition(b"nowhere")[0])
    reported = failure(source)
    assert reported.startswith("build: tar: ")
    assert str(own_cache) in reported


def test_a_tarball_whose_first_header_is_endless_takes_no_memory_to_look_at(tmp_path: Path) -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 1 << 32
    with gzip.open(tmp_path / "bomb.tar.gz", "wb", compresslevel=1) as bomb:
        bomb.writelines([header.tobuf(tarfile.USTAR_FORMAT), bytes(100 * MEGABYTE)])
    tracemalloc.start()
    try:
        assert Recipe(tarball=tmp_path / "bomb.tar.gz").tarball
        assert tracemalloc.get_traced_memory()[1] < MEGABYTE
    finally:
        tracemalloc.stop()


NO_SOURCE, NO_ADDRESS = "a kernel source tarball", "tcp://HOST:PORT or tls://HOST:PORT"


@pytest.mark.parametrize(
    ("command", "option", "value", "rule"),
    [
        ("run geo", "source", "gone.tar", NO_SOURCE),
        ("run geo", "source", str(paths.LAB), NO_SOURCE),
        ("run geo --vary seed=1,2", "source", __file__, NO_SOURCE),
        ("kernel build", "source", __file__, NO_SOURCE),
        ("run geo", "scheduler", "nope", NO_ADDRESS),
        ("run geo --vary seed=1,2", "scheduler", "nope", NO_ADDRESS),
        ("reproduce geo", "scheduler", "nope", NO_ADDRESS),
        ("run geo", "scheduler", "tcp://127.0.0.1:1", "a dask scheduler that replies: "),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_built(
    command: str, option: str, value: str, rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare, "ensure_built", lambda *_: pytest.fail("it is built"))
    monkeypatch.setattr(cluster, "REPLY_S", 1)
    for name in ("CACHE", "RESULTS"):
        monkeypatch.setenv(f"LAB_{name}", str(tmp_path / name))
    line = error_of(CliRunner().invoke, app, [*command.split(), f"--{option}", value], catch_exceptions=False)
    assert line.startswith(f"command line: {option}={value}: must be {rule}")
    assert not list(tmp_path.iterdir())


def test_an_option_that_the_source_does_not_keep_is_named(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert own_cache
    monkeypatch.setattr(Recipe, "patches", [])
    reported = failure(broken_kernel(tmp_path, olddefconfig="sed -i /CONFIG_VETH/d $(O)/.config"))
    assert reported.startswith("virtual.config: CONFIG_VETH=y: must be an option that this kernel source has")


def test_a_failed_build_leaves_no_kernel(tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recipe, "patches", [])
    source = broken_kernel(tmp_path)
    failure(source)
    assert build.find(Recipe(tarball=source)) is None
    assert not [folder for folder in own_cache.iterdir() if folder.is_dir() and not folder.is_symlink()]


def test_the_kernel_is_cached_by_all_that_it_is_made_from(tmp_path: Path, builder: image.Image) -> None:
    file = tmp_path / "linux.tar"
    folders: set[Path] = set()
    for content in ("one", "two"):
        tarball(tmp_path, {"Makefile": content})
        for recipe in (Recipe(tarball=file), Recipe("6.1", file), Recipe(tarball=file, sanitize=True)):
            folders.update(build._folders(builder, recipe, recipe.source()))
    assert len(folders) == 2 * 3 * 2


@pytest.mark.parametrize(
    ("requested", "got", "words"),
    [
        (["CONFIG_A=y\n"], "CONFIG_A=y\n", []),
        (["CONFIG_A=y\n"], "# CONFIG_A is not set\n", [("0", "CONFIG_A=y")]),
        (["CONFIG_A=m\n"], "CONFIG_A=y\n", [("0", "CONFIG_A=m")]),
        (["CONFIG_A=y\n"], "", [("0", "CONFIG_A=y")]),
        (["# CONFIG_A is not set\n"], "", []),
        (["# CONFIG_A is not set\n"], "CONFIG_A=y\n", [("0", "# CONFIG_A is not set")]),
        (["# about CONFIG_A and more\n"], "CONFIG_A=y\n", []),
        (["CONFIG_A=y\n", "# CONFIG_A is not set\n"], "", []),
        (["# CONFIG_A is not set\n", "CONFIG_A=y\n"], "", [("1", "CONFIG_A=y")]),
    ],
)
def test_a_configured_line_holds_or_is_refused(requested: list[str], got: str, words: list[tuple[str, str]]) -> None:
    assert refused({str(number): text for number, text in enumerate(requested)}, got) == words


def test_a_version_that_is_not_packaged_is_refused() -> None:
    with pytest.raises(
        UserError, match=r"^command line: kernel=5\.4: must be one of 6\.1, 6\.12, .*7\.3, large-sockets$"
    ):
        Recipe("5.4")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_has_a_pinned_source_and_its_configurations(version: str) -> None:
    known = VERSIONS[version]
    assert f"linux-source-{known.number}" in image.locked(known.image)
    assert all(fragment.is_file() for fragment in Recipe(version).fragments)


def test_debians_linux_7_alone_traps_its_programs_calls_and_no_tarball_of_its_name(tmp_path: Path) -> None:
    tarball(tmp_path, {"Makefile": ""})
    own = (tmp_path / "linux.tar").rename(tmp_path / "linux-source-7.3.tar")
    assert [name for name in VERSIONS if Recipe(name).traps] == ["7.2", "7.3"]
    assert not Recipe("7.3", own).traps


def test_the_default_kernel_alone_is_laid_out_by_a_profile(tmp_path: Path) -> None:
    (profile,) = Recipe().profile
    with tarfile.open(profile) as packed:
        members = packed.getmembers()
    assert len(members) > 500
    assert all(each.isfile() and re.fullmatch(r"(?:[\w-]+/)+[\w-]+\.gcda", each.name) for each in members)
    others = [Recipe("6.1"), Recipe("large-sockets"), Recipe(sanitize=True), Recipe(tarball=tarball(tmp_path, {}))]
    assert not any(other.profile for other in others)


@pytest.mark.parametrize("command", [("run", "--help"), ("kernel", "build", "--help")])
def test_the_commands_offer_every_version(command: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, command).output
    assert all(version in shown for version in VERSIONS)


@pytest.mark.parametrize(
    ("header", "changed"),
    [
        ("u64 icsk_ca_priv[104 / sizeof(u64)];", "u64 icsk_ca_priv[768 / sizeof(u64)];"),
        (
            "#define ICSK_CA_PRIV_SIZE\t(144)\nu64 icsk_ca_priv[ICSK_CA_PRIV_SIZE / sizeof(u64)];",
            "#define ICSK_CA_PRIV_SIZE\t(768)\nu64 icsk_ca_priv[ICSK_CA_PRIV_SIZE / sizeof(u64)];",
        ),
    ],
)
def test_a_socket_gets_more_room_wherever_its_size_is_stated(header: str, changed: str) -> None:
    assert with_socket_bytes(header, 768) == changed


@pytest.mark.parametrize("header", ["", "icsk_ca_priv[CA]", "icsk_ca_priv[1]\nicsk_ca_priv[2]"])
def test_a_header_that_does_not_state_a_sockets_size_once_is_refused(header: str) -> None:
    with pytest.raises(UserError, match=f"^build: {SOCKETS}: must state the size of icsk_ca_priv once as a number"):
        with_socket_bytes(header, 768)


def test_a_kernel_with_larger_sockets_is_another_kernel(builder: image.Image) -> None:
    recipes = [Recipe(), Recipe("large-sockets")]
    assert len({build._folders(builder, recipe, recipe.source())[0] for recipe in recipes}) == 2
