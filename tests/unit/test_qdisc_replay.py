# SPDX-License-Identifier: GPL-2.0-or-later
"""A link replays its series exactly: every packet leaves at the time of an exact model, whatever the steps do."""

from pathlib import Path

import pytest

from lab.node.qdiscs import series
from lab.node.system.tools import NodeError


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0\t5\n", r"must close with the line"),
        ("0 5\n1\tend\n", r"line 1: must have 2 fields, split by a tab"),
        ("0\t5\n1.5\t6\n2\tend\n", r"line 2: must hold whole numbers from 0 on, and not '1.5'"),
        ("0\t-1\n2\tend\n", r"line 1: must hold whole numbers"),
        ("0\tnan\n2\tend\n", r"line 1: must hold whole numbers"),
        ("5\tend\n", r"line 1: must begin with a step"),
    ],
)
def test_a_file_that_is_no_series_is_refused_by_line(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "series.tsv"
    file.write_text(text)
    with pytest.raises(NodeError, match=rf"^series\.tsv: {words}"):
        list(series.chunks(file, 2, series.capacity))


def test_chunks_hold_every_step_once(tmp_path: Path) -> None:
    file = tmp_path / "series.tsv"
    file.write_text("".join(f"{t}\t{t * 2}\n" for t in range(7)) + "9\tend\n")
    chunks = list(series.chunks(file, 3, series.capacity))
    assert [len(chunk.steps) for chunk in chunks] == [3, 3, 1]
    assert [step for chunk in chunks for step in chunk.steps] == [(1000 * t, t * 2) for t in range(7)]
    assert [chunk.end_ns for chunk in chunks] == [None, None, 9000]
