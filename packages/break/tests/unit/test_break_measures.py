# SPDX-License-Identifier: GPL-2.0-or-later
"""What a link is worth by each measure."""

import pytest
from lab_break.command import best_rival
from lab_break.find import Find
from lab_break.measures import CRASH, MEASURES, measure_of, value_of
from lab_break.numbers import Numbers, crashed
from lab_break.request import Request
from lab_break.space import load_bounds

from lab.base.errors import UserError

FINE: Numbers = {
    "crash": None,
    "invalid": None,
    "exit_class": "chokepoint",
    "exit_s": 1.0,
    "exit_cause": "search",
    "capacity_s": 0.9,
    "throughput_mbps": 10.0,
    "rival_mbps": 5.0,
    "wait_ms": 20.0,
    "retransmits_pkts": 0,
    "base_rtt_ms": 50.0,
    "end_s": 10.4,  # the download lasts 10 s from its first data on
    "packets": "a",
}


def trial(**changed: object) -> Numbers:
    return {**FINE, **changed}  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    ("measure", "own", "other", "value"),
    [
        ("early", {"exit_s": 0.5, "capacity_s": 2.0}, {}, 1.5),
        ("early", {"exit_s": 0.5, "capacity_s": None}, {}, 9.9),
        ("early", {"exit_s": 3.0, "capacity_s": 2.0}, {}, -1.0),
        ("early", {"exit_s": None}, {}, None),
        ("early-own", {"exit_s": 0.5, "capacity_s": 2.0}, {}, 1.5),
        ("early-own", {"exit_s": 0.5, "capacity_s": 2.0, "exit_cause": "loss"}, {}, 0.0),
        ("early", {"exit_s": 0.5, "capacity_s": 2.0, "contradiction": "forged"}, {}, None),
        ("early-own", {"exit_s": 0.5, "capacity_s": 2.0, "contradiction": "forged"}, {}, None),
        ("late", {"exit_s": 3.0, "capacity_s": 2.0, "contradiction": "forged"}, {}, None),
        ("late", {"exit_s": 3.0, "capacity_s": 2.0}, {}, 20.0),
        ("late", {"exit_s": None, "capacity_s": 9.0}, {}, 28.0),
        ("late", {"capacity_s": None}, {}, None),
        ("throughput", {"throughput_mbps": 2.0}, {"throughput_mbps": 8.0}, 4.0),
        ("throughput", {"throughput_mbps": 0.0}, {"throughput_mbps": 8.0}, CRASH),
        ("queueing", {"wait_ms": 70.0}, {}, 70.0),
        ("harm", {"rival_mbps": 2.0}, {"rival_mbps": 8.0}, 75.0),
        ("harm", {"rival_mbps": 2.0}, {"rival_mbps": None}, None),
        ("differs", {}, {}, 0.0),
        ("differs", {"packets": "b"}, {}, 1.0),
        ("differs", {"packets": "b", "exit_s": 1.1, "throughput_mbps": 5.0}, {}, 3.5),
    ],
)
def test_a_link_has_the_value_of_its_trials(
    measure: str, own: dict[str, object], other: dict[str, object], value: float | None
) -> None:
    trials = {"search": trial(**own), "cubic": trial(**other)}
    assert value_of(MEASURES[measure], "search", trials) == (None if value is None else pytest.approx(value))


def test_a_sender_without_a_result_is_worse_than_any_other() -> None:
    assert value_of(MEASURES["early"], "search", {"search": crashed("kernel: panic")}) == CRASH


@pytest.mark.parametrize("other", [crashed("kernel: panic"), trial(invalid="rate")])
def test_a_rival_without_a_valid_trial_is_no_find_of_the_sender(other: Numbers) -> None:
    assert value_of(MEASURES["throughput"], "search", {"search": trial(), "cubic": other}) is None


def test_an_invalid_trial_has_no_value() -> None:
    assert value_of(MEASURES["early"], "search", {"search": trial(invalid="delay")}) is None


def test_an_unknown_measure_names_those_that_are_known() -> None:
    with pytest.raises(UserError, match="measure=speed: must be one of early, early-own"):
        measure_of("speed")


@pytest.mark.parametrize("measure", ["queueing", "harm"])
def test_the_best_rival_is_best_among_those_with_a_result(measure: str) -> None:
    request = Request.of("search", measure, ("wifi", load_bounds("wifi")), "bbr,cubic,vegas", None, 9, 1, "tpe", 1)
    others = {"bbr": crashed("panic"), "cubic": trial(wait_ms=9.0), "vegas": trial(wait_ms=3.0, rival_mbps=9.0)}
    assert best_rival(Find(request, {}, 1.0, {"search": trial(), **others}, {})) == "vegas"
