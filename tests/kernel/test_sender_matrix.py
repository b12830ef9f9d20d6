# SPDX-License-Identifier: GPL-2.0-or-later
"""A whole trial of every sender leaves a kernel that checks itself silent."""

import pytest

from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.runs.plan import draw, make_plan
from lab.schema.cca import load_ccas
from tests.conftest import SMALL, experiment_on, recipe_under_test
from tests.guest import trial as guest_trial
from tests.stress import Guest

pytestmark = pytest.mark.skipif(
    not recipe_under_test().sanitize, reason="trials on the default kernel are many: this is for make test-sanitize"
)


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> Guest:
    return Guest(tmp_path_factory.mktemp("matrix"), kernel, world)


@pytest.mark.parametrize("sender", load_ccas())
def test_a_trial_of_each_sender_leaves_the_kernel_silent(guest: Guest, sender: str) -> None:
    experiment = experiment_on(SMALL, sender)
    plan = make_plan(experiment, experiment.ccas[sender], draw(experiment, 1)) | {"preload": None}
    assert 1 < guest.call(guest_trial.trial, plan=plan) < SMALL.down.rate_mbps
