# SPDX-License-Identifier: GPL-2.0-or-later
"""The start-up family's cores know parameters out of range, and find what was noted as packets were sent."""

from pathlib import Path
from typing import Any

import pytest

from tests import bbr3, best, c4, careful_resume, copa, rapid_start, vivace
from tests.c_core import Core, functions, new


def noted(library: Path, notes: list[tuple[int, int]], step: int = 1) -> Any:
    state = new("sent_state")
    for delivered, inflight in notes:
        functions(library).sent_note(state, delivered % 2**32, 0, inflight, step)
    return state


def found(library: Path, state: Any, delivered: int) -> int:
    return int(functions(library).sent_find(state, delivered % 2**32).inflight)


@pytest.mark.parametrize("begin", [0, 2**32 - 500])
def test_the_last_entry_that_is_not_later(cores: Path, begin: int) -> None:
    state = noted(cores, [(begin + 10 * each, each) for each in range(100)])
    assert [found(cores, state, begin + at) for at in (0, 9, 10, 555, 990, 2000)] == [
        0, 0, 1, 55, 99, 99,
    ]  # fmt: skip


def test_the_oldest_where_it_was_forgotten_and_steps_make_fewer_entries(cores: Path) -> None:
    state = noted(cores, [(each, each) for each in range(3000)])
    assert found(cores, state, 5) == 3000 - 1024
    assert noted(cores, [(each, each) for each in range(100)], step=10).count == 10


def test_what_was_sent_since_raises_what_is_in_flight(cores: Path) -> None:
    state = noted(cores, [(0, 5)])
    for inflight in (9, 7):
        functions(cores).sent_settle(state, inflight)
    assert found(cores, state, 0) == 9


OUT_OF_RANGE: dict[str, tuple[type, str]] = {
    "bbr3": (
        bbr3.Params,
        "growth_pct=0 growth_pct=101 full_rounds=0 full_rounds=101 loss_pct=0 loss_pct=51 loss_ranges=0"
        " loss_ranges=201",
    ),
    "best": (best.Params, "skip_rounds=101"),
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
    assert Core(cores, core, params()).valid()
    assert not Core(cores, core, params(**{name: int(value)})).valid()
