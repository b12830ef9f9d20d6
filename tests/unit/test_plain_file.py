# SPDX-License-Identifier: GPL-2.0-or-later
"""What a stranger's build leaves is taken as a plain file, whatever stands under its name."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.base.errors import UserError
from lab.base.plain_file import copy_made

NAME, HELD = "made", "held by the host alone"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    (tmp_path / "secret").write_text(HELD)
    return tmp_path / "work"


def test_a_plain_file_is_copied(folder: Path) -> None:
    (folder / NAME).write_bytes(b"\x7fELF")
    copy_made(folder, NAME, folder.parent / "copy")
    assert (folder.parent / "copy").read_bytes() == b"\x7fELF"


@pytest.mark.parametrize(
    "make",
    [
        lambda made: made.symlink_to("../secret"),
        lambda made: made.symlink_to(made),
        lambda made: os.link(made.parent.parent / "secret", made),
        os.mkfifo,
        Path.mkdir,
        lambda _made: None,
    ],
    ids=["link", "loop", "hard link", "pipe", "folder", "nothing"],
)
def test_anything_else_is_refused_in_one_line(folder: Path, make: Callable[[Path], object]) -> None:
    make(folder / NAME)
    with pytest.raises(UserError, match=r"^build: made: .*: must be a plain file, which the build makes itself$"):
        copy_made(folder, NAME, folder.parent / "copy")
    assert not (folder.parent / "copy").exists()


def test_a_link_in_place_of_the_folder_is_not_followed(folder: Path) -> None:
    (folder.parent / "other").symlink_to(folder)
    with pytest.raises(OSError, match="other"):
        copy_made(folder.parent / "other", NAME, folder.parent / "copy")
