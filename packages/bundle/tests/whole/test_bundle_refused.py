# SPDX-License-Identifier: GPL-2.0-or-later
"""A bundle that is damaged, of another machine, or hostile: one line, and the cache stays as it was."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from bundles import Content, everything_below, file_entry, whole_content, write_bundle
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lab_bundle.content import programs_of, recorded_digests
from lab_bundle.manifest import BundledFile
from lab_bundle.use import use

from lab.kernel import build
from tests.brief import error_of

KERNEL = build.pinned()[0].name
PROGRAMS = programs_of()["quic"][1].pinned().program.parent.name
WORLD = next(entry.path.split("/")[0] for entry, _ in whole_content() if entry.path.startswith("world-"))
FOLDERS = list(dict.fromkeys(entry.path.split("/")[0] for entry, _ in whole_content()))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def refusal(file: Path, cache: Path) -> str:
    """Return the line that refuses a bundle, after a look for anything that it left."""
    line = error_of(use, file)
    assert everything_below(cache) == set()
    assert everything_below(cache.parent) <= {file.name}
    return line


def test_the_least_content_is_accepted(cache: Path, tmp_path: Path) -> None:
    use(write_bundle(tmp_path / "x", whole_content()))
    assert (cache / KERNEL / "obj/linux").read_bytes() == b"x"


def link(path: str, target: str) -> tuple[BundledFile, bytes]:
    return BundledFile(path=path, kind="link", link=target), b""


HOSTILE: dict[str, tuple[Content, str]] = {
    "an absolute path": ([(file_entry("/tmp/x", b"y"), b"y")], "path=/tmp/x: must be a plain path"),
    "a path upwards": ([(file_entry(f"{KERNEL}/../../x", b"y"), b"y")], "must be a plain path inside its folder"),
    "a folder that is not the lab's": ([(file_entry("mine/x", b"y"), b"y")], "must be below a folder"),
    "a path beside all folders": ([(file_entry("x", b"y"), b"y")], "must be below a folder"),
    "a member twice": ([(file_entry(f"{KERNEL}/built.json", b"y"), b"y")], "must be in the list once"),
    "a folder's marker as a whole": ([(BundledFile(path=KERNEL, kind="folder"), b"")], "must be in the list once"),
    "a file below a link": (
        [link(f"{KERNEL}/up", "obj"), (file_entry(f"{KERNEL}/up/x", b"y"), b"y")],
        "must be below a folder that the list names before",
    ),
    "a link out of its folder": ([link(f"{KERNEL}/up", "../../..")], "must be a link that stays in its folder"),
    "a link upwards behind a name": ([link(f"{WORLD}/root/up", "var/../../..")], "a link that stays in its folder"),
    "an absolute link outside an image": ([link(f"{KERNEL}/up", "/etc/passwd")], "a link that stays in its folder"),
    "a link beside an image's root": ([link(f"{WORLD}/up", "/etc")], "must be a link that stays in its folder"),
    "a link out of an image's root": ([link(f"{WORLD}/root/up", "../x")], "must be a link that stays in its folder"),
    "a control character": ([(file_entry(f"{KERNEL}/a\nb", b"y"), b"y")], "must be a plain path"),
    "a file that is also a link": (
        [(file_entry(f"{KERNEL}/up", b"", link="obj"), b"")],
        "must be a file with a digest, a link with its target, or a folder",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_content_is_refused(name: str, cache: Path, tmp_path: Path) -> None:
    more, words = HOSTILE[name]
    assert words in refusal(write_bundle(tmp_path / "x", [*whole_content(), *more]), cache)


def test_a_link_in_place_of_a_file_that_the_lab_reads_is_refused(cache: Path, tmp_path: Path) -> None:
    status = f"{WORLD}/root/var/lib/dpkg/status"
    content = [one for one in whole_content() if one[0].path != status]
    file = write_bundle(tmp_path / "x", [*content, link(status, "/etc/passwd")])
    assert "must be one that holds root/var/lib/dpkg/status" in refusal(file, cache)


def test_a_quic_program_that_is_missing_or_of_another_checkout_is_refused(cache: Path, tmp_path: Path) -> None:
    content = [*whole_content(), link(f"{PROGRAMS}/lab-ngtcp2", "gone")]
    file = write_bundle(tmp_path / "x", content, folders=[*FOLDERS, PROGRAMS])
    assert "must be one that holds lab-ngtcp2" in refusal(file, cache)
    for name in ("ngtcp2-0123456789abcdef", "../../x"):
        file = write_bundle(tmp_path / "x", whole_content(), folders=[*FOLDERS, name])
        assert f"folders={name}: must be one of this checkout's, once" in refusal(file, cache)


def test_a_member_that_the_list_does_not_have_or_has_smaller_is_refused(cache: Path, tmp_path: Path) -> None:
    rows = [entry.model_dump(exclude_defaults=True) for entry, _ in whole_content()]
    facts = {"files": len(rows), "content_bytes": sum(row.get("bytes", 0) for row in rows)}
    more, larger = whole_content(), whole_content()
    more.insert(3, (file_entry(f"{KERNEL}/more", b"more"), b"more"))
    larger[-1] = (file_entry(larger[-1][0].path, b"x" * 5000), b"x" * 5000)
    for content in (more, larger):
        assert "must be at its place" in refusal(write_bundle(tmp_path / "x", content, rows, **facts), cache)
    rows.append({"path": f"{KERNEL}/d", "kind": "device"})
    device = write_bundle(tmp_path / "x", whole_content(), rows, **(facts | {"files": len(rows)}))
    assert "must be 'file', 'folder' or 'link'" in refusal(device, cache)


def test_a_wrong_digest_of_one_file_is_refused(cache: Path, tmp_path: Path) -> None:
    content = whole_content()
    entry = content[-1][0]
    content[-1] = (entry.model_copy(update={"sha256": "0" * 64}), b"x")
    assert f"of {entry.path}: must be whole" in refusal(write_bundle(tmp_path / "x", content), cache)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"machine": "aarch64"}, "machine=aarch64: must be x86_64, as this machine is"),
        ({"format": 2}, "format=2: must be 1"),
        ({"content_bytes": 10**15}, "MB for"),
        ({"files": 0}, "files=0: must be that of its list"),
        ({"list_sha256": "0" * 64}, "must be whole"),
        ({"members": [{"path": "content.tar.zst", "bytes": 10**9, "sha256": "0" * 64}]}, "it is cut short or damaged"),
        ({"more": 1}, "more=1: must be left out"),
    ],
)
def test_a_manifest_of_another_machine_or_of_damage_is_refused(
    changes: dict[str, Any], words: str, cache: Path, tmp_path: Path
) -> None:
    assert words in refusal(write_bundle(tmp_path / "x", whole_content(), **changes), cache)


def test_a_bundle_of_another_version_names_both_commits(cache: Path, tmp_path: Path) -> None:
    other = ["kernel-0000000000000000", *FOLDERS[1:]]
    line = refusal(write_bundle(tmp_path / "x", whole_content(), folders=other), cache)
    assert f"kernel=kernel-0000000000000000: must be {KERNEL}, of this checkout" in line
    assert "the bundle is of 0123456789ab: check out that commit" in line


@pytest.mark.parametrize("name", ["bw_example", "mine.txt"])
def test_a_recording_that_is_not_the_known_one_is_refused(name: str, cache: Path, tmp_path: Path) -> None:
    place = "traces/leo-leocc/bw_example"
    known = next(path for path in recorded_digests() if path.startswith(f"{place}/"))
    path = known if name == "bw_example" else f"{place}/{name}"
    content = [*whole_content(), (file_entry(path, b"false"), b"false")]
    line = refusal(write_bundle(tmp_path / "x", content, folders=[*FOLDERS, place]), cache)
    assert "must be a recording of trace-profiles/datasets.yml, with its checksum" in line


def test_a_full_disk_leaves_nothing(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_bundle(tmp_path / "x", whole_content())
    real = os.utime

    def full(path: Path, times: tuple[float, float] | None = None) -> None:
        if path.name == "fewer_wakeups.so":
            raise OSError(28, "No space left on device", str(path))
        real(path, times)

    monkeypatch.setattr("lab_bundle.use.os.utime", full)
    assert "No space left on device: nothing of" in refusal(file, cache)


def test_a_disk_that_is_too_small_is_named_before_anything_is_written(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_bundle(tmp_path / "x", whole_content())
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: shutil._ntuple_diskusage(10, 9, 1))
    line = refusal(file, cache)
    assert "free_mb=0: must be at least" in line
    assert "set LAB_CACHE to a folder on another disk" in line
    assert not cache.exists()


@pytest.mark.parametrize("content", [b"", b"text", b"\0" * 4096, b"manifest.json" + b"\0" * 499])
def test_what_is_no_bundle_is_refused(content: bytes, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    assert "must be a bundle that 'lab bundle make' wrote" in refusal(tmp_path / "x", cache)


def test_a_folder_and_a_missing_file_are_refused(cache: Path, tmp_path: Path) -> None:
    assert "must be a plain file" in refusal(tmp_path, cache)
    assert "No such file" in refusal(tmp_path / "missing", cache)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("small")
    return write_bundle(folder / "x", whole_content()).read_bytes()


def damaged_is_refused(data: bytes, folder: Path) -> None:
    (folder / "x").write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CACHE", str(folder / "cache"))
        refusal(folder / "x", folder / "cache")


@settings(suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_a_changed_bit_is_always_refused(data: st.DataObject, small: bytes, tmp_path: Path) -> None:
    place = data.draw(st.integers(0, len(small) - 1))
    changed = bytearray(small)
    changed[place] ^= 1 << data.draw(st.integers(0, 7))
    damaged_is_refused(bytes(changed), tmp_path)


@settings(suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_a_bundle_cut_short_is_always_refused(data: st.DataObject, small: bytes, tmp_path: Path) -> None:
    damaged_is_refused(small[: data.draw(st.integers(0, len(small) - 1))], tmp_path)
