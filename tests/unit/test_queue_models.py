# SPDX-License-Identifier: GPL-2.0-or-later
"""The model of a queue goes to a worker process and arrives as it was."""

import pickle

import pytest

from lab.base.named_files import profile_files
from lab.links.profile import load_profile


@pytest.mark.parametrize("name", profile_files())
def test_every_profile_survives_the_way_to_a_worker(name: str) -> None:
    profile = load_profile(name, "test")
    assert pickle.loads(pickle.dumps(profile)) == profile  # noqa: S301 - our own bytes
