# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH measures a slow start that comes again at once, however young CUBIC's epoch is; the published code does not.

The published Linux code looks away for the first second of each epoch of CUBIC's congestion avoidance, as CUBIC does
for its delays. An idle restart moves the epoch on, so that a flow which paused soon after a loss is not looked at.
"""

import pytest

from lab.images.image import Image
from lab.kernel.build import Kernel
from tests.conftest import SMALL
from tests.guest import search as guest_search
from tests.search_acks import PUBLISHED, VERSIONS
from tests.stress import Guest, link

Again = dict[str, float]


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> dict[str, Again]:
    guest = Guest(tmp_path_factory.mktemp("again"), kernel, world)
    found: dict[str, Again] = guest.call(guest_search.slow_started_again, link=link(SMALL), versions=list(VERSIONS))
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_all_decide_bins_in_an_epochs_first_second_but_the_published_code(
    again: dict[str, Again], version: str
) -> None:
    row = again[version]
    assert row["epoch_at_most_s"] < 1
    assert row["cwnd_pkts"] < row["ssthresh_pkts"]  # in slow start
    assert row["bins"] == 0 if version in PUBLISHED else row["bins"] >= 3  # of four round trips
