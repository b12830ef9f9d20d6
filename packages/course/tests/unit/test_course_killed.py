# SPDX-License-Identifier: GPL-2.0-or-later
"""What killed course commands left is gone with the next one, which does the same as if there had been none."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from lab_course import make
from lab_course.bench import Bench
from lab_course.course_commands import make_course

from lab.backends.virtual import Virtual
from lab.base.cache import held
from lab.base.scratch import PREFIX
from tests.brief import error_of, put

PARTS = ["students", "grader", "search-lab.tar.gz"]


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def made(out: Path) -> list[str]:
    return list(make_course(out, None, "1", None, bundle=False))


def test_a_course_is_made_whole_or_not_at_all_and_never_over_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / f"{PREFIX}killed" / "lock", "")
    with monkeypatch.context() as full:
        full.setattr(make, "write_lab", lambda file: file.with_name("none").read_text())
        with pytest.raises(FileNotFoundError):
            made(tmp_path)
    assert names(tmp_path) == set()
    assert [line.partition(":")[0] for line in made(tmp_path)] == [str(tmp_path / part) for part in PARTS]
    assert names(tmp_path) == {*PARTS}
    assert error_of(made, tmp_path) == f"{tmp_path}: must be a new or empty folder"
    assert names(tmp_path) == {*PARTS}


def test_the_lab_for_students_has_the_same_bytes_whenever_it_is_written(tmp_path: Path) -> None:
    make.write_lab(tmp_path / "lab.tar.gz")
    assert (tmp_path / "lab.tar.gz").read_bytes()[:10] == b"\x1f\x8b\x08\0\0\0\0\0\0\xff"  # no name and no time


def test_a_draft_of_a_killed_grader_is_removed_and_one_whose_trial_runs_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    killed, runs = (tmp_path / "course" / "trials" / f".own-{name}.0a1b2c3d.draft" for name in ("killed", "runs"))
    for each in (killed, runs):
        put(each / "plan.json", "{}")
    virtual: Any = SimpleNamespace(kernel=None, world=None, engine="netns")
    with held(tmp_path / "course" / "own-runs.lock", wait=False):
        Bench.on(cast("Virtual", virtual))
    assert names(tmp_path / "course" / "trials") == {runs.name}
    assert names(tmp_path / "course") == {"trials", "own-runs.lock"}
