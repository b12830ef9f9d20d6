# SPDX-License-Identifier: GPL-2.0-or-later
"""A link keeps its last value over a recording's gaps: its run states how long they are, as what is assumed."""

import math
from pathlib import Path

import numpy as np
import pytest

from lab.runs import run_folder
from lab.runs.experiment import load_experiment
from lab.tables.stored_run import Run
from lab.traces.batches import gaps_s
from tests.whole.test_compare_growing import site
from tests.whole.test_recording_changed import PROFILE, SCENARIO

NONE = math.nan


@pytest.mark.parametrize(
    ("rates_mbps", "zero_is_missing", "expected_s"),
    [
        ([5, 6, 7], False, []),
        ([5, NONE, NONE, 6, NONE, 7], False, [2, 1]),
        ([NONE, NONE, 5, 6], False, []),  # a gap at the beginning is cut away
        ([5, 6, NONE, NONE, NONE], False, [2]),  # until the last row
        ([5, 0, 0, 6], False, []),  # the link stalled
        ([5, 0, 0, 6], True, [2]),
        ([NONE, 5, NONE, 6], False, [1]),
    ],
)
@pytest.mark.parametrize("rows", [1, 2, 100])
def test_a_gap_lasts_until_the_next_value(
    rates_mbps: list[float], zero_is_missing: bool, expected_s: list[float], rows: int
) -> None:
    t_s, value = np.arange(len(rates_mbps), dtype=np.float64), np.array(rates_mbps, dtype=np.float64)
    pieces = [(t_s[begin : begin + rows], value[begin : begin + rows]) for begin in range(0, len(t_s), rows)]
    assert gaps_s(iter(pieces), zero_is_missing) == expected_s


def test_a_run_states_the_gaps_of_its_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in (("recorded.yml", PROFILE), ("over.yml", SCENARIO)):
        (tmp_path / name).write_text(content)
    monkeypatch.setenv("LAB_PROFILES", str(tmp_path))
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    missing = {10, 11, 12, 40}
    rows = (f"{second},{'' if second in missing else 20}\n" for second in range(60))
    (tmp_path / "mine.csv").write_text("t_s,rate_down_mbps\n" + "".join(rows))
    folder = run_folder.create(load_experiment(str(tmp_path / "over.yml")), site(tmp_path))
    sentence = "down.rate_mbps holds its last value over 2 gaps of mine.csv (4 s in all, the longest 3 s)"
    assert Run(folder).meta["profile"]["assumed"] == [sentence]
