# SPDX-License-Identifier: GPL-2.0-or-later
"""The images hold what the lab needs, at the versions that are pinned, and are cached by all they are made from."""

from pathlib import Path

import pytest

from lab.base import paths
from lab.base.cache import finished, publish
from lab.base.errors import UserError
from lab.images import archive, image


def test_a_mirror_of_the_users_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_DEBIAN_MIRROR", "http://mirror.example/debian/")
    lines = archive.sources("trixie")
    assert lines is not None
    assert lines.splitlines()[0] == "deb http://mirror.example/debian trixie main"
    assert archive.arguments() == ["-"]


def test_a_package_that_debian_has_dropped_is_one_line() -> None:
    error = image.dropped("source-6.1", "mmdebstrap: E: Unable to locate package linux-source-6.1 (log: /a)")
    assert str(error) == (
        "lab/images/source-6.1.pkgs: package=linux-source-6.1: must be a package of Debian's bookworm, "
        "whose archive does not have it"
    )
    assert image.dropped("world", "mmdebstrap: E: no space left on device") is None


def test_a_folder_of_the_cache_is_complete_or_not_there(tmp_path: Path) -> None:
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


def test_a_draft_that_a_killed_build_left_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / ".thing.draft").mkdir()
    (tmp_path / ".thing.draft" / "half").write_text("")
    with publish(tmp_path / "thing") as draft:
        assert draft is not None
        assert not list(draft.iterdir())


def test_the_cache_lies_where_the_user_puts_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    assert paths.cache() == tmp_path
    monkeypatch.delenv("LAB_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert paths.cache() == tmp_path / "xdg" / "search-lab"


def test_a_package_that_is_not_the_pinned_one_is_refused_unless_the_user_accepts_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LAB_DRIFT", raising=False)
    pins = image.locked("world")
    image.require_pinned("world", pins)
    with pytest.raises(UserError, match=r"world\.lock .*: iperf3=.* -> 0: must be the pinned version.*LAB_DRIFT=1"):
        image.require_pinned("world", pins | {"iperf3": "0"})
    monkeypatch.setenv("LAB_DRIFT", "1")
    image.require_pinned("world", pins | {"iperf3": "0"})
