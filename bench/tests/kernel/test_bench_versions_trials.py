# SPDX-License-Identifier: GPL-2.0-or-later
"""The bench of SEARCH's forms: each is one that the core takes, and pairs are compared on the same links."""

from pathlib import Path

import pytest
from lab_papers.search_replay import replay_bins

from bench.versions.forms import FORMS


@pytest.mark.parametrize("name", FORMS)
def test_the_core_takes_every_form(search_library: Path, name: str) -> None:
    form = FORMS[name].replayed(search_library)
    bins = replay_bins(search_library, [1], [1000], [1], form.params, sent_bytes=[1], compact=form.compact)
    assert len(bins) == 0
