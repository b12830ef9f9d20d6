# SPDX-License-Identifier: GPL-2.0-or-later
"""The wheels leave a bundle before there is an environment: only with the right digest, and only into one folder."""

import hashlib
import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from lab.base.paths import REPO

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
WHEEL = ("wheels/x-1-py3-none-any.whl", b"a wheel")


def bundle(file: Path, *members: tuple[str, bytes], python: str | None = HERE) -> Path:
    named = [{"path": path, "sha256": hashlib.sha256(data).hexdigest()} for path, data in members]
    manifest = json.dumps({"python": python, "members": named}).encode()
    with tarfile.open(file, "w") as archive:
        for path, data in (("manifest.json", manifest), *members):
            info = tarfile.TarInfo(path)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file


def extract(file: Path, folder: Path) -> tuple[int, str]:
    """Run the program as scripts/setup-bundle does, in a Python without any package."""
    folder.mkdir()
    argv = [sys.executable, "-I", "-S", str(REPO / "packages/bundle/lab_bundle/bootstrap.py"), str(file), str(folder)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert len(done.stderr.splitlines()) <= 1, done.stderr
    return done.returncode, done.stderr


def test_wheels_and_their_lock_are_extracted(tmp_path: Path) -> None:
    file = bundle(tmp_path / "b", ("licences/README", b"text"), WHEEL, ("wheels/requirements.lock", b"x==1"))
    assert extract(file, tmp_path / "out") == (0, "")
    assert {each.name for each in (tmp_path / "out").iterdir()} == {"x-1-py3-none-any.whl", "requirements.lock"}


@pytest.mark.parametrize(
    ("members", "python", "words"),
    [
        ([WHEEL], "3.9", f"python=3.9: must be {HERE}"),
        ([WHEEL], None, "holds no wheels: run 'make setup' with the network first"),
        ([("wheels/../../x.whl", b"y")], HERE, "must be a wheel"),
        ([("wheels//tmp/x.whl", b"y")], HERE, "must be a wheel"),
        ([("wheels/x.sh", b"y")], HERE, "must be a wheel"),
        ([WHEEL], "3\x1b[2J\n9", r"python=3\x1b[2J\n9: must be"),  # nothing of it moves a cursor, or is a second line
        ([("wheels/x\x1b]0;y\n", b"y")], HERE, r"wheels/x\x1b]0;y\n: must be a wheel"),
        ([WHEEL], 5000 * "9", "python=9999"),
    ],
)
def test_other_members_and_other_pythons_are_refused(
    members: list[tuple[str, bytes]], python: str | None, words: str, tmp_path: Path
) -> None:
    status, line = extract(bundle(tmp_path / "b", *members, python=python), tmp_path / "out")
    assert status == 2
    assert words in line
    assert len(line) <= 2001
    assert not list((tmp_path / "out").iterdir())


def test_a_manifest_of_a_hundred_thousand_brackets_is_refused(tmp_path: Path) -> None:
    file, manifest = tmp_path / "b", 100_000 * b"["
    with tarfile.open(file, "w") as archive:
        info = tarfile.TarInfo("manifest.json")
        info.size = len(manifest)
        archive.addfile(info, io.BytesIO(manifest))
    assert extract(file, tmp_path / "o") == (2, f"{file}: must be whole: it is cut short or damaged: fetch it again\n")


@pytest.mark.parametrize("size", [0, 100, 700, 1100, 1540, None])
def test_a_bundle_cut_short_and_a_wheel_with_another_digest_are_refused(size: int | None, tmp_path: Path) -> None:
    file = bundle(tmp_path / "b", WHEEL)
    file.write_bytes(file.read_bytes().replace(b"a wheel", b"a whorl") if size is None else file.read_bytes()[:size])
    assert extract(file, tmp_path / "out")[0] == 2


def test_a_file_of_endless_zeros_is_refused(tmp_path: Path) -> None:
    assert extract(Path("/dev/zero"), tmp_path / "out")[0] == 2


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert extract(tmp_path / "missing", tmp_path / "out") == (2, f"{tmp_path}/missing: No such file or directory\n")
