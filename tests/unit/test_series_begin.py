# SPDX-License-Identifier: GPL-2.0-or-later
"""When a link's series begin: with the trial, or with the download's SYN or first data, where the node can see it."""

from dataclasses import replace

import pytest

from lab.base.errors import UserError
from lab.links.profile import load_profile
from lab.links.tc_alone import NETEM
from lab.runs.experiment import Experiment, digest
from lab.runs.plan import draw, make_plan
from tests.conftest import SMALL, experiment_on

GEO = load_profile("geo-viasat", "a test")


def beginning(begin: str) -> Experiment:
    experiment = experiment_on(SMALL, "cubic")
    return replace(experiment, profile=experiment.profile.model_copy(update={"series_begin": begin}))


def plan_of(experiment: Experiment) -> object:
    return make_plan(experiment, experiment.ccas["cubic"], draw(experiment, 1)).get("series_begin")


def test_a_plan_states_the_event_which_has_the_old_digest_by_default_and_netem_refuses() -> None:
    assert [plan_of(beginning(begin)) for begin in ("trial", "syn", "data")] == [None, "syn", "data"]
    old = GEO.model_dump()
    del old["series_begin"]
    assert digest(GEO.model_dump()) == digest(old) != digest(old | {"series_begin": "syn"})
    with pytest.raises(UserError, match="series_begin=syn: must be trial with --shaper netem"):
        plan_of(replace(beginning("syn"), shaper=NETEM))
