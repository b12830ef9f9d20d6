# SPDX-License-Identifier: GPL-2.0-or-later
"""The images hold what the lab needs at pinned versions, are cached by all they are made from, and keep no document."""

import os
import subprocess
from pathlib import Path

import pytest

from lab.base import paths
from lab.base.cache import finished, publish
from lab.base.errors import UserError
from lab.base.paths import REPO
from lab.images import archive, copyright_files, image
from tests.brief import folder_at, present, put


def test_a_mirror_of_the_users_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_DEBIAN_MIRROR", "http://mirror.example/debian/")
    lines = present(archive.sources("trixie"))
    assert lines.splitlines()[0] == "deb http://mirror.example/debian trixie main"


def test_without_an_apt_that_answers_the_usual_archive_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAB_DEBIAN_MIRROR", raising=False)
    put(tmp_path / "apt-get", "#!/bin/sh\nprintf 'Debian|http'\nexit 1\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert archive.sources("trixie") is None


@pytest.mark.parametrize(("version", "suite"), [("6.1", "bookworm"), ("7.3", "trixie-backports")])
def test_a_package_that_debian_has_dropped_is_one_line(version: str, suite: str) -> None:
    package = f"linux-source-{version}"
    error = image.dropped(f"source-{version}", f"mmdebstrap: E: Unable to locate package {package} (log: /a)")
    assert str(error) == (
        f"lab/images/source-{version}.pkgs: package={package}: must be a package of Debian's {suite}, "
        "whose archive does not have it"
    )
    assert image.dropped("world", "mmdebstrap: E: no space left on device") is None


def test_every_image_has_a_lock_and_is_of_the_release_that_its_list_states() -> None:
    for name in image.names():
        assert set(image.listed(name)) <= set(image.locked(name)), name
    (line,) = (each for each in (REPO / "Dockerfile").read_text().splitlines() if "/tmp/container.lock git" in each)
    assert line.partition("container.lock ")[2].removesuffix(" && \\").split() == image.listed("container")
    assert {image.suite(name) for name in ("world", "builder")} == {"trixie"}
    assert image.suite("source-6.1") == "bookworm"
    assert image.release(image.suite("source-7.3")) == "trixie"
    assert image.backports_hook("trixie") == []


@pytest.mark.parametrize("options", ["", "[signed-by=/a/key.gpg] "])
def test_backports_come_from_where_their_release_comes_from(options: str, tmp_path: Path) -> None:
    apt = tmp_path / "a root" / "etc/apt"
    (apt / "sources.list.d").mkdir(parents=True)
    lines = [f"deb {options}http://mirror.example/debian {suite} main" for suite in ("trixie", "trixie-updates")]
    (apt / "sources.list").write_text("\n".join(lines) + "\n")
    (option,) = image.backports_hook("trixie-backports")
    subprocess.run(["sh", "-c", option.removeprefix("--setup-hook="), "exec", str(tmp_path / "a root")], check=True)
    added = (apt / "sources.list.d/backports.list").read_text()
    assert added == f"deb {options}http://mirror.example/debian trixie-backports main\n"


def test_a_folder_of_the_cache_is_complete_or_not_there_whatever_a_killed_build_left(tmp_path: Path) -> None:
    folder = tmp_path / "thing"
    with pytest.raises(FileNotFoundError), publish(folder) as draft:
        (draft or tmp_path).joinpath("no/such/folder").write_text("half")
    assert not folder.exists()
    with publish(folder) as draft:
        assert draft is not None
        (draft / "whole").write_text("")
        assert not finished(folder)
    assert finished(folder)
    with publish(folder) as draft:
        assert draft is None
    assert {file.name for file in folder.iterdir()} == {"whole", ".complete"}
    put(tmp_path / ".other.draft" / "half", "")
    with publish(tmp_path / "other") as draft:
        assert draft is not None
        assert not list(draft.iterdir())


def test_the_cache_lies_where_the_user_puts_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    assert paths.cache() == tmp_path
    monkeypatch.delenv("LAB_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert paths.cache() == tmp_path / "xdg" / "search-lab"


def test_a_cache_of_another_user_is_used_where_it_is_named_and_only_its_owner_writes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    folder = tmp_path / "search-lab"
    folder.mkdir(mode=0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("LAB_CACHE", raising=False)
    with pytest.raises(UserError, match=r"search-lab: must be a folder of your own, or named by LAB_CACHE"):
        paths.cache()
    monkeypatch.setenv("LAB_CACHE", str(folder))
    assert paths.cache() == folder
    for mode in (0o775, 0o757):
        folder.chmod(mode)
        with pytest.raises(UserError, match=r"LAB_CACHE=.*: must be .* writable for its owner only"):
            paths.cache()


def test_what_the_lab_notes_lies_in_a_cache_of_the_users_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class_cache = folder_at(tmp_path / "class")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("LAB_CACHE", str(class_cache))
    assert paths.own_cache() == class_cache
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert paths.own_cache() == tmp_path / "xdg" / "search-lab"


def test_a_package_that_is_not_the_pinned_one_is_refused_unless_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAB_DRIFT", raising=False)
    pins = image.locked("world")
    image.require_pinned("world", pins)
    with pytest.raises(UserError, match=r"world\.lock .*: iperf3=.* -> 0: must be the pinned version.*LAB_DRIFT=1"):
        image.require_pinned("world", pins | {"iperf3": "0"})
    monkeypatch.setenv("LAB_DRIFT", "1")
    image.require_pinned("world", pins | {"iperf3": "0"})


def test_each_packages_own_file_is_kept_once_and_the_root_has_none(tmp_path: Path) -> None:
    docs = tmp_path / "root" / copyright_files.DOCS
    (docs / "gcc-14-base").mkdir(parents=True)
    (docs / "gcc-14-base/copyright").write_text("GPL-3+")
    (docs / "gcc-14-base/README").write_text("a document")
    (docs / "libgcc-s1").symlink_to("gcc-14-base")
    (docs / "tzdata").mkdir()
    (docs / "tzdata/copyright").write_text("public domain")
    (docs / "stranger").mkdir()
    (docs / "stranger/copyright").symlink_to("/etc/passwd")

    copyright_files.take(tmp_path / "root")

    kept = {file.name: file.read_text() for file in (tmp_path / copyright_files.FOLDER).iterdir()}
    assert kept == {"gcc-14-base.copyright": "GPL-3+", "tzdata.copyright": "public domain"}
    assert list(docs.iterdir()) == []
