# SPDX-License-Identifier: GPL-2.0-or-later
"""Each modelled stand-in is near its recording, as the table of docs/stand-ins.md states."""

import pytest

from bench import stand_ins
from lab.links.profile import load_profile
from tests.traces_real import needs_real
from tests.whole.test_profiles import fetched

__all__ = ["fetched"]  # a fixture
DOC = stand_ins.DOC.read_text()


@pytest.mark.parametrize(("recorded", "stand_in"), list(stand_ins.pairs()))
@needs_real
@pytest.mark.usefixtures("fetched")
def test_a_stand_in_is_near_its_recording_as_the_table_of_the_docs_states(recorded: str, stand_in: str) -> None:
    theirs, own = (
        summarise(load_profile(name, "test"))
        for name, summarise in ((recorded, stand_ins.of_recording), (stand_in, stand_ins.of_model))
    )
    assert list(own.outside(theirs)) == []
    assert all(f"{stand_ins.row(f'`{n}`', each)}\n" in DOC for n, each in ((recorded, theirs), (stand_in, own)))
