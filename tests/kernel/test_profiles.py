# SPDX-License-Identifier: GPL-2.0-or-later
"""Every profile of the checkout can be drawn, states what of it is data, and gives a trial whose certificate holds."""

import pytest

from lab.links.profile import load_profile
from tests.conftest import Bench, experiment_on
from tests.traces_real import needs_real
from tests.unit.test_profiles import EVERY, fetched  # noqa: F401


@needs_real
@pytest.mark.usefixtures("fetched")
@pytest.mark.parametrize("name", ["lte-att", "wifi-restaurant"])
def test_a_recorded_link_gives_a_trial_whose_certificate_holds(bench: Bench, name: str) -> None:
    """Delivery opportunities both ways with long stalls; a rate so low that a probe's own time counts."""
    trial = bench.run(experiment_on(load_profile(name, "test"), "cubic_plain", duration_s=4), "cubic_plain", name)
    assert trial.valid, trial.meta["certificate"]
