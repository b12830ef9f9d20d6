# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings come from their origin or a folder, verified, whole or not at all; the network is a server of ours."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.base.errors import UserError
from lab.traces.candidates import Mirror
from lab.traces.datasets import Dataset
from lab.traces.fetch import chosen, fetch
from tests.command import lab
from tests.recordings import COMMIT, collection, serving, sha256
from tests.traces_real import FOLDER as REAL
from tests.traces_real import needs_real

CONTENT = b"1\n2\n3\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "traces"


@pytest.fixture
def origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A server with the origin's paths; its folder of the tests' repository."""
    root = tmp_path / "origin"
    (root / "someone/somewhere" / COMMIT / "data").mkdir(parents=True)
    with serving(root) as address:
        monkeypatch.setenv("LAB_TRACES_ORIGIN", address)
        yield root / "someone/somewhere" / COMMIT


def stored(requested: Dataset) -> bytes:
    return (requested.folder / requested.file).read_bytes()


def refusal_of(requested: list[Dataset], mirror: Path | None = None) -> str:
    with pytest.raises(UserError) as refused:
        list(fetch(requested, Mirror(mirror) if mirror else None))
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_recording_comes_once_from_its_origin_and_its_licence_is_printed(origin: Path) -> None:
    (requested,) = collection({"a.txt": CONTENT})
    (origin / "data/a.txt").write_bytes(CONTENT)
    assert list(fetch([requested], None)) == ["mine: CC0-1.0, nobody", f"  mine/a: fetched from {requested.url}"]
    assert stored(requested) == CONTENT
    (origin / "data/a.txt").unlink()
    assert list(fetch([requested], None))[-1] == "  mine/a: already fetched"


def test_what_has_no_licence_is_fetched_for_ones_own_use(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(CONTENT)
    (requested,) = collection({"a.txt": CONTENT}, licence="none")
    lines = list(fetch([requested], Mirror(tmp_path)))
    assert lines[0] == "mine: no licence (for your own use, cannot be passed on), nobody"
    assert stored(requested) == CONTENT


@pytest.mark.parametrize("wrong", [b"1\n2\n4\n", b"", CONTENT + b"4\n", b"1\n"])
def test_another_checksum_is_refused_and_the_file_kept_aside(origin: Path, cache: Path, wrong: bytes) -> None:
    (requested,) = collection({"a.txt": CONTENT})
    (origin / "data/a.txt").write_bytes(wrong)
    refusal = refusal_of([requested])
    (kept,) = (cache / "refused").iterdir()
    assert refusal.endswith(f"kept as {kept}")
    assert f"must be {sha256(CONTENT)[:16]}" in refusal
    assert wrong.startswith(kept.read_bytes())
    assert not requested.fetched
    assert not requested.folder.exists()


@pytest.mark.parametrize("is_there", [True, False])
def test_the_licence_is_stored_beside_the_files_or_its_lack_named(origin: Path, cache: Path, is_there: bool) -> None:
    licence = {"LICENSE": {"path": "COPYING", "bytes": 2, "sha256": sha256(b"ok")}}
    (requested,) = collection({"a.txt": CONTENT}, documents=licence)
    (origin / "data/a.txt").write_bytes(CONTENT)
    if is_there:
        (origin / "COPYING").write_bytes(b"ok")
    last = list(fetch([requested], None))[-1]
    assert requested.fetched
    assert (last == f"  licence text: {cache}/mine/documents") == is_there
    assert ("licence text not stored" in last) != is_there
    assert [file.read_bytes() for file in cache.glob("mine/documents/LICENSE")] == [b"ok"] * is_there


def test_one_file_that_is_missing_at_the_origin_does_not_keep_the_others(origin: Path) -> None:
    gone, there = collection({"a.txt": CONTENT, "b.txt": b"other"})
    (origin / "data/b.txt").write_bytes(b"other")
    assert "1 of 2 recordings were not fetched" in refusal_of([gone, there])
    assert there.fetched
    assert not gone.fetched


def test_without_network_one_line_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_TRACES_ORIGIN", "http://127.0.0.1:1")
    refusal = refusal_of(collection({"a.txt": CONTENT, "b.txt": b"other"}))
    assert refusal.endswith("Connection refused: must be reachable; without network give a folder with --mirror")


def packed(**members: bytes) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name.replace("__", "/"), content)
    return archive.getvalue()


@pytest.mark.parametrize(
    ("members", "taken"),
    [
        ({"set__a": b"not this\n", "set__a.txt": CONTENT}, "set/a.txt"),
        ({"b.csv": CONTENT, "c.csv": b"4\n5\n6\n"}, "b.csv"),  # under another name: by its checksum
    ],
)
def test_a_file_is_taken_out_of_the_archive_at_its_origin(origin: Path, members: dict[str, bytes], taken: str) -> None:
    (requested,) = collection({"a.txt": CONTENT}, archive="all.zip", path="{file}")
    (origin / "all.zip").write_bytes(packed(**members))
    assert list(fetch([requested], None))[-1] == f"  mine/a: fetched from {requested.url}: {taken}"
    assert stored(requested) == CONTENT


@pytest.mark.parametrize("cut", [0, 10, 60, None])
def test_a_damaged_archive_and_a_damaged_member_are_refused(origin: Path, cut: int | None) -> None:
    (requested,) = collection({"a.txt": CONTENT * 100}, archive="all.zip", path="{file}")
    archive = bytearray(packed(**{"a.txt": CONTENT * 100}))
    archive[40] ^= 0xFF
    (origin / "all.zip").write_bytes(archive[:cut])
    assert ("kept as" if cut is None else "must be a zip archive") in refusal_of([requested])


@pytest.mark.parametrize("place", ["mine/a.txt", "data/a.txt", "deep/down/a.txt", "deep/renamed.dat"])
def test_a_mirror_may_be_laid_out_in_any_way(tmp_path: Path, place: str) -> None:
    (requested,) = collection({"a.txt": CONTENT})
    file = tmp_path / "mirror" / place
    file.parent.mkdir(parents=True)
    file.write_bytes(CONTENT)
    assert list(fetch([requested], Mirror(tmp_path / "mirror")))[-1] == f"  mine/a: fetched from {file}"


def test_a_mirror_without_the_file_names_what_it_looked_for_and_a_changed_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mirror/mine/a.txt"
    file.parent.mkdir(parents=True)
    requested = collection({"a.txt": CONTENT})
    looked_for = f"mine/a: must be in the folder, by name or by checksum {sha256(CONTENT)[:16]}…"
    assert refusal_of(requested, tmp_path / "mirror") == looked_for
    file.write_bytes(b"changed")
    assert "kept as" in refusal_of(requested, tmp_path / "mirror")
    assert file.read_bytes() == b"changed"  # the mirror is left as it is
    with pytest.raises(UserError, match=r"^--mirror=.*: must be a folder$"):
        Mirror(tmp_path / "nothing")


@needs_real
def test_the_command_fetches_all_real_recordings_from_a_mirror(tmp_path: Path, cache: Path) -> None:
    done = lab(tmp_path, "traces", "fetch", "--all", "--mirror", str(REAL))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("fetched from") == len(chosen([], everything=True))
    assert "leo-mmsys24: CC-BY-SA-4.0, J. Zhao and J. Pan" in done.stdout
    assert not list(cache.rglob("*.draft"))


def test_the_command_wants_names_or_all_and_not_both(tmp_path: Path) -> None:
    for words in ([], ["--all", "leo-leocc"]):
        done = lab(tmp_path, "traces", "fetch", *words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "must be given names or --all" in done.stderr
