# SPDX-License-Identifier: GPL-2.0-or-later
"""A module that does not build, or hangs, is tried once, and not again by each check of its submission."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lab_course import bench as benches
from lab_course.bench import Bench
from lab_try.module.source import OwnSource
from lab_try.smoke import SmokeTest

from lab.base.errors import UserError

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
