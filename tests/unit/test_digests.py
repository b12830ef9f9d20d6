# SPDX-License-Identifier: GPL-2.0-or-later
"""A renamed field, or a new label, leaves the digests of requests as they were: stored runs still match."""

from typing import Any

import pytest

from lab.runs.experiment import digest, load_experiment
from lab.schema.scenario import load_scenario

FIRST_CUBIC: dict[str, Any] = {  # as run.json of 2026-11-22, morning, has it
    "name": "cubic",
    "label": "CUBIC with HyStart (Linux default)",
    "algorithm": "cubic",
    "module": None,
    "params": {},
    "allocates_bytes": 0,
    "sysctls": {},
    "qdisc": None,
    "tells_exit": False,
    "slow_start_exit": "hystart",
    "colour": "#D55E00",
    "marker": "s",
    "linestyle": "--",
}


def test_a_sender_stored_under_the_first_names_is_the_same_request() -> None:
    assert digest([load_experiment("geo").ccas["cubic"].model_dump()]) == digest([FIRST_CUBIC])


def test_another_algorithm_is_another_request() -> None:
    assert digest([FIRST_CUBIC | {"algorithm": "reno"}]) != digest([FIRST_CUBIC])


@pytest.mark.parametrize(("scenario", "aside"), [("geo", False), ("sample", True)])
def test_a_scenario_stored_with_aside_is_the_same_request(scenario: str, aside: bool) -> None:
    now = load_scenario(scenario)[1].model_dump()
    first = {key: value for key, value in now.items() if key != "in_summary"} | {"aside": aside}
    assert digest(first) == digest(now)
    assert digest(first | {"aside": not aside}) != digest(now)
