# SPDX-License-Identifier: GPL-2.0-or-later
"""The crates of the QUIC sender come whole and verified from an origin or a folder, or one line says why not."""

import hashlib
import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_formats.fetching.candidates import Mirror
from lab_quic.quinn import crates

from lab.base.errors import UserError
from tests.brief import error_of, folder_at, put
from tests.recordings import serving

LOCK = """\
version = 4

[[package]]
name = "own"
version = "0.1.0"

[[package]]
name = "small"
version = "1.2.3"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "{sha256}"
"""


def crate(*names: str) -> bytes:
    """An archive as a registry has it."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tar:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = 2
            tar.addfile(member, io.BytesIO(b"//"))
    return content.getvalue()


def locked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes) -> None:
    lock = put(tmp_path / "Cargo.lock", LOCK.format(sha256=hashlib.sha256(content).hexdigest()))
    monkeypatch.setattr(crates, "LOCK", lock)
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def origin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A registry of the test's own, and where it has the crate."""
    folder = folder_at(tmp_path / "origin/crates/small")
    content = crate("small-1.2.3/src/lib.rs")
    locked(monkeypatch, tmp_path, content)
    (folder / "small-1.2.3.crate").write_bytes(content)
    with serving(tmp_path / "origin") as address:
        monkeypatch.setenv("LAB_CRATES_ORIGIN", address)
        yield folder / "small-1.2.3.crate"


@pytest.mark.usefixtures("origin")
def test_the_crates_of_the_lock_are_fetched_and_unpacked(tmp_path: Path) -> None:
    assert crates.fetch().startswith("1 crates fetched from http://127.0.0.1")
    assert crates.fetched()
    crates.unpack(tmp_path / "vendor")
    assert (tmp_path / "vendor/small-1.2.3/src/lib.rs").read_text() == "//"
    assert crates.fetch() == "already fetched"


def test_a_crate_with_another_checksum_is_refused_and_nothing_is_stored(origin: Path) -> None:
    origin.write_bytes(crate("small-1.2.3/src/other.rs"))
    with pytest.raises(UserError, match=r"small-1\.2\.3\.crate: sha256=\w{16}…: must be \w{16}…; kept as ") as error:
        crates.fetch()
    assert "\n" not in str(error.value)
    assert not crates.fetched()


@pytest.mark.usefixtures("origin")
def test_an_origin_that_cannot_be_reached_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_CRATES_ORIGIN", "http://127.0.0.1:9")
    assert "small-1.2.3.crate: Connection refused: must be reachable; without network" in error_of(crates.fetch)


def test_a_folder_stands_in_for_the_origin(origin: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LAB_CRATES_ORIGIN", "http://127.0.0.1:9")
    mirror = folder_at(tmp_path / "mirror/quinn")
    (mirror / origin.name).write_bytes(origin.read_bytes())
    assert crates.fetch(Mirror(mirror.parent)) == f"1 crates fetched from {mirror.parent}"


def test_a_crate_out_of_its_folder_is_refused(origin: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    content = crate("other-1.0/lib.rs")
    locked(monkeypatch, tmp_path, content)
    origin.write_bytes(content)
    crates.fetch()
    assert "small-1.2.3.crate: must hold files of small-1.2.3 alone" in error_of(crates.unpack, tmp_path / "vendor")


def test_the_real_lock_has_a_checksum_for_every_crate_but_ours() -> None:
    names = [each.name for each in crates.locked()]
    assert "quinn-proto" in names
    assert "lab-quic" not in names
    assert all(len(each.sha256) == 64 for each in crates.locked())
