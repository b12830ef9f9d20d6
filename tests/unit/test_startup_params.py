# SPDX-License-Identifier: GPL-2.0-or-later
"""The start-up family's cores know parameters that are out of range."""

from pathlib import Path
from typing import Any

import pytest

from tests import bbr3, c4, careful_resume, copa, rapid_start, vivace
from tests.c_core import valid

OUT_OF_RANGE: dict[str, tuple[type, str]] = {
    "bbr3": (
        bbr3.Params,
        "growth_pct=0 growth_pct=101 full_rounds=0 full_rounds=101 loss_pct=0 loss_pct=51 loss_ranges=0"
        " loss_ranges=201",
    ),
    "c4": (c4.Params, "still_eras=0 still_eras=11 loss_pkts=10001"),
    "careful_resume": (
        careful_resume.Params,
        "saved_cwnd_pkts=10000001 saved_rtt_us=60000001 lifetime_s=0 path_changed=2 max_jump_pkts=0 beta_pct=49"
        " beta_pct=101 saved_age_s=31536001",
    ),
    "copa": (copa.Params, "inverse_delta=0 inverse_delta=65 competes=2"),
    "rapid_start": (rapid_start.Params, "iw_pkts=1 iw_pkts=1001 queue_us=1000001 queue_pct=101"),
    "vivace": (vivace.Params, "latency=10001 loss_pct=10001 epsilon_pct=0 epsilon_pct=26"),
}


@pytest.mark.parametrize(
    ("core", "params", "wrong"),
    [(core, params, wrong) for core, (params, values) in OUT_OF_RANGE.items() for wrong in values.split()],
)
def test_parameters_out_of_range_are_known_as_such(cores: Path, core: str, params: Any, wrong: str) -> None:
    name, value = wrong.split("=")
    assert valid(cores, core, params())
    assert not valid(cores, core, params(**{name: int(value)}))
