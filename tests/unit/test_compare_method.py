# SPDX-License-Identifier: GPL-2.0-or-later
"""What the page of a comparison states of its method: how many trials, and what differs besides the sender."""

from dataclasses import replace

import pytest

from lab.evaluation.compare.campaign import looks_of
from lab.evaluation.compare.measures import PRIMARY
from lab.report.compare.page import facts, method
from tests import compared as example
from tests.compared import Compared


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_RESULTS", str(folder))
        return example.store(folder, 4)


def test_the_page_states_which_sender_runs_on_another_kernel(compared: Compared) -> None:
    comparison, found = compared
    first, *others = comparison.senders
    needy = comparison.senders[first].model_copy(update={"kernel": "kernel-0"})
    plan = looks_of(comparison)
    senders = {first: needy, **{name: comparison.senders[name] for name in others}}
    shown = method(replace(comparison, senders=senders), plan, PRIMARY)
    stated = [line for line in shown if "a kernel of its own" in line]
    assert len(stated) == 1
    assert needy.label in stated[0]
    assert "kernel-0" in dict(facts(replace(comparison, senders=senders), found, []))[f"sender {first}"]
    assert not [line for line in method(comparison, plan, PRIMARY) if "a kernel of its own" in line]


def test_the_page_states_another_initial_window_and_a_fixed_number_of_trials(compared: Compared) -> None:
    comparison = compared[0]
    first, *_ = comparison.senders
    hasty = comparison.senders[first].model_copy(update={"first_window_pkts": 8192})
    senders = {**comparison.senders, first: hasty}
    lines = method(replace(comparison, senders=senders), looks_of(comparison), PRIMARY)
    assert lines[-1] == f"The receiver of {hasty.label} begins with 8192 packets, and not with 44."
    fixed = replace(compared[0], fixed=True)
    first = method(fixed, looks_of(fixed), PRIMARY)[0]
    assert f"Each sender had {fixed.trials} trials on each link" in first
    assert "Looks after" not in first
