# SPDX-License-Identifier: GPL-2.0-or-later
"""A wrong name is refused with the few that it may stand for; a link to itself is refused, too."""

from pathlib import Path

import pytest

from lab.base.near import MOST, near
from tests.command import lab, refused

MANY = [f"geo-{number}" for number in range(50)] + ["wired-clean"]


@pytest.mark.parametrize(
    ("name", "known", "named"),
    [
        ("wired-claen", MANY, "wired-clean, or another of 51"),
        ("geo-7", MANY[:6], "geo-5, geo-4, geo-3, geo-2, geo-1, or another of 6"),
        ("x" * 10**6, MANY, "geo-0, geo-1, geo-2, geo-3, geo-4, or another of 51"),
        ("anything", MANY[:MOST], "geo-0, geo-1, geo-2, geo-3, geo-4"),
    ],
    ids=["misspelt", "several", "like none", "few"],
)
def test_at_most_five_near_names_are_listed(name: str, known: list[str], named: str) -> None:
    assert near(name, known) == named


def test_a_wrong_profile_is_one_short_line(tmp_path: Path) -> None:
    line = refused(lab(tmp_path, "run", "--profile", "geo-viasta", "--cca", "cubic"))
    assert line.startswith("command line: profile=geo-viasta: must be a known profile of trace-profiles/: geo-viasat, ")
    assert len(line) < 200


@pytest.mark.parametrize("words", ["try {}", "report {}", "log {} cubic-001", "grade 1 {}", "page {}"])
def test_a_link_to_itself_is_refused_in_one_line(tmp_path: Path, words: str) -> None:
    (tmp_path / "loop.c").symlink_to("loop.c")
    refused(lab(tmp_path / "results", *words.format(tmp_path / "loop.c").split()))


def test_a_link_to_itself_in_a_folder_of_sources_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.c").symlink_to("a.c")
    line = refused(lab(tmp_path / "results", "try", str(tmp_path / "own")))
    assert line == f"{tmp_path}/own/a.c: Too many levels of symbolic links"
