# SPDX-License-Identifier: GPL-2.0-or-later
"""What was graded is not graded once more; its points are never those of another submission."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lab_course import whole_class
from lab_course.seeds import public_seed
from small_assignment import CHECKS, handed_in, small_assignment

from lab.base.plain_file import write_whole

NO_BENCH: Any = SimpleNamespace(virtual=SimpleNamespace(kernel=SimpleNamespace(described={})))  # no check runs a trial
BREAKS = "    1 / work.answers.number('x')\n    right ="


@pytest.mark.parametrize("killed_at", ["", whole_class.INPUT], ids=["a broken check", "a kill before the last file"])
def test_a_submission_that_is_as_it_was_has_its_own_points_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_at: str
) -> None:
    """Between the two a grading of other answers was not whole: its check broke, or it was killed."""
    small = small_assignment(tmp_path / "course" / "1-small", checks=CHECKS.replace("    right =", BREAKS))
    folder, right = tmp_path / "s1", str(public_seed("small", "s1") % 100)
    task = whole_class.Task(folder, small.folder, NO_BENCH, None, tmp_path / "out")

    def killed(path: Path, content: str | bytes) -> Path:
        if path.name == killed_at:
            raise KeyboardInterrupt
        return write_whole(path, content)

    def points(answer: str) -> float | None:
        handed_in(folder, own__c="", answers__yml=f"x: {answer}\n")
        return whole_class.attempt(task).points

    assert points(right) == 10
    with monkeypatch.context() as patched:
        patched.setattr(whole_class, "write_whole", killed)
        if killed_at:
            with pytest.raises(KeyboardInterrupt):
                points("1000")
        else:
            assert points("0") == 0
    assert points(right) == 10
