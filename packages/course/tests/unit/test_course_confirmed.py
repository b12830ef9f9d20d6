# SPDX-License-Identifier: GPL-2.0-or-later
"""Points of a public check that its hidden twin does not confirm; and a module that hangs, which is tried once."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lab_course import bench as benches
from lab_course.bench import Bench
from lab_course.grade import Grade, grade
from lab_course.seeds import public_seed
from lab_course.submission import open_submission
from lab_try.module.source import OwnSource
from lab_try.smoke import SmokeTest
from small_assignment import YML, handed_in, small_assignment

from lab.base.errors import UserError

NO_BENCH: Any = None  # these checks run no trial
ANSWER = f"x: {public_seed('small', 's1') % 100}\n"
CONFIRMED = YML.replace("part: public}", "part: public, confirmed_by: again}")
STATES = "from lab_course.marks import Marks\ndef check_again(work): return Marks(0.2, 'Some.', confirms={})\n"


def graded(folder: Path, **hidden: str) -> Grade:
    small = small_assignment(folder / "course" / "1-small", CONFIRMED, **hidden)
    submission = open_submission(handed_in(folder / "a", own__c="", answers__yml=ANSWER), small)
    return grade(small, submission, NO_BENCH, 32 * b"k")


def test_points_that_another_seed_does_not_confirm_are_taken(tmp_path: Path) -> None:
    found = graded(tmp_path)
    assert found.points == 0
    assert "it passes here, and has none in the hidden check again" in found.rows[0].marks.reason


@pytest.mark.parametrize(
    ("confirms", "points", "says"),
    [
        ("{}", 10, "Right."),
        ("{'answer': 1.0}", 10, "Right."),
        (
            "{'answer': 0.5}",
            5,
            "Fewer points: it has more here than the 50% that it has in the hidden check again. Right.",
        ),
        ("{'answer': 0.0}", 0, "No points: it passes here, and has none in the hidden check again. Right."),
        ("{'other': 0.0}", 10, "Right."),
    ],
)
def test_a_public_check_has_at_most_the_share_that_its_hidden_twin_states_for_it(
    tmp_path: Path, confirms: str, points: float, says: str
) -> None:
    found = graded(tmp_path, hidden=STATES.replace("{}", confirms))
    assert [row.points for row in found.rows] == [points, 1]
    assert found.rows[0].marks.reason == says


VIRTUAL: Any = SimpleNamespace(kernel=None, world=SimpleNamespace(root=Path("world")))


def source(code: str) -> OwnSource:
    return OwnSource(Path("rule.c"), Path(), "rule", {"rule.c": code.encode()})


@pytest.mark.parametrize("step", ["build", "smoke"])
def test_work_that_failed_is_not_repeated_for_the_next_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    tried: list[str] = []

    def fail(*_given: object) -> None:
        tried.append(step)
        raise UserError(f"rule.c: {step} {len(tried)}")

    monkeypatch.setattr(benches, "_failed", {})
    monkeypatch.setattr(benches, "virtual_tree", lambda _kernel: None)
    monkeypatch.setattr(benches, "build_own", fail)
    monkeypatch.setattr(SmokeTest, "run", fail)
    bench = Bench(VIRTUAL, tmp_path)
    for code in ("one", "one", "another"):
        module: Any = SimpleNamespace(source=source(code), folder=tmp_path / code)
        expected = f"^rule.c: {step} {2 if code == 'another' else 1}$"
        with pytest.raises(UserError, match=expected):
            bench.build(module.source) if step == "build" else bench.smoke(module)
    assert len(tried) == 2
