# SPDX-License-Identifier: GPL-2.0-or-later
"""A whole trial of every sender, fetched visitors included, leaves a kernel that checks itself silent."""

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from lab.backends.virtual import Virtual
from lab.commands.visitors import visiting
from lab.images.image import Image
from lab.kernel import build
from lab.kernel.build import Kernel
from lab.kernel.visitors.fetch import is_fetched
from lab.kernel.visitors.source import visitor_recipe
from lab.runs.plan import draw, make_plan, own_file
from lab.schema.cca import load_ccas
from lab.schema.visitor import load_visitors
from tests.conftest import SMALL, experiment_on, recipe_under_test
from tests.guest import trial as guest_trial
from tests.stress import Guest

FETCHED = [name for name, each in load_visitors().items() if each.needs is None and is_fetched(name, each)]
NONE = pytest.param("none", marks=pytest.mark.skip(reason="no visitor is fetched: lab senders fetch --all"))
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


@pytest.mark.parametrize("name", FETCHED or [NONE])
def test_a_trial_of_each_fetched_visitor_leaves_the_kernel_silent(
    tmp_path: Path, kernel: Kernel, world: Image, name: str
) -> None:
    recipe = visitor_recipe(name, load_visitors()[name])
    if recipe and build.find(replace(recipe, sanitize=True)) is None:
        pytest.skip("its kernel is not built with checkers: lab kernel build --sanitize --kernel visitors")
    senders, virtual = visiting([name]).built(Virtual(kernel, world), Console(quiet=True), sanitized=True)
    sender = senders[name]
    experiment = experiment_on(SMALL, "cubic")
    plan = make_plan(replace(experiment, ccas=senders), sender, draw(experiment, 1)) | {"preload": None}
    guest = Guest(tmp_path, virtual.kernels.get(sender.kernel or "", kernel), world)
    files = {}
    if sender.module and sender.module_digest:
        files[own_file(sender.module)] = virtual.own_modules[sender.module_digest]
    assert 0.5 < guest.call(guest_trial.trial, files, plan=plan) < SMALL.down.rate_mbps
