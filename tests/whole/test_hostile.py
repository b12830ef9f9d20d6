# SPDX-License-Identifier: GPL-2.0-or-later
"""A short fuzzing of each reader ends in a result or one line: `make test-hostile` is the long form."""

import pytest

from tests.hostile.readers import READERS
from tests.unit.test_hostile import in_a_process

FEW = "40"
SEED = "1"


@pytest.mark.parametrize("reads", READERS)
def test_a_changed_file_is_read_or_refused_in_one_line(reads: str) -> None:
    done = in_a_process("tests.hostile.fuzz", reads, FEW, SEED)
    assert done.returncode == 0, done.stderr[-3000:]
