# SPDX-License-Identifier: GPL-2.0-or-later
"""Each bad input of the corpus is refused in its line."""

import json
import subprocess
import sys
from typing import Any

import pytest

from lab.base.errors import MOST_CHARS
from tests.hostile.inputs import INPUTS


def in_a_process(*words: str) -> "subprocess.CompletedProcess[str]":
    """Run a module that bounds itself: a bomb ends its process, not the tests."""
    return subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def tried() -> dict[str, str | None]:
    """The refusal of each input; the one that ended the process has none."""
    done = in_a_process("tests.hostile.try_corpus")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    found = {line[0]: line[1] for line in lines if len(line) == 2}
    assert done.returncode == 0, f"{lines[-1][0]}: {done.stderr[-2000:]}"
    return found


@pytest.mark.parametrize("one", INPUTS.values(), ids=INPUTS)
def test_a_bad_input_is_refused_in_one_line_per_fault(tried: dict[str, str | None], one: dict[str, Any]) -> None:
    line = tried[one["name"]]
    if not one["refused"]:
        assert line is None
        return
    assert line is not None
    assert one["refused"] in line
    assert all(each.isprintable() and len(each) <= MOST_CHARS + 10 for each in line.split("\n"))
