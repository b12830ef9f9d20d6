# SPDX-License-Identifier: GPL-2.0-or-later
"""A link to itself, where a file of a user is expected, is one line."""

from pathlib import Path

import pytest

from tests.command import lab, refused


@pytest.mark.parametrize("words", ["try {}", "report {}", "log {} cubic-001", "grade 1 {}", "page {}"])
def test_a_link_to_itself_is_refused_in_one_line(tmp_path: Path, words: str) -> None:
    (tmp_path / "loop.c").symlink_to("loop.c")
    refused(lab(tmp_path / "results", *words.format(tmp_path / "loop.c").split()))


def test_a_link_to_itself_in_a_folder_of_sources_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.c").symlink_to("a.c")
    line = refused(lab(tmp_path / "results", "try", str(tmp_path / "own")))
    assert line == f"{tmp_path}/own/a.c: Too many levels of symbolic links"
