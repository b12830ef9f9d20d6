# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture as it is kept: nothing but payload is gone."""

from pathlib import Path

from lab.images.image import Image
from lab.senders.traced import PORT
from tests.tshark import dissect
from tests.unit.test_header_capture import CAPTURE, kept  # noqa: F401


def test_tshark_opens_it_as_it_is(kept: Path, world: Image) -> None:
    assert dissect(world.root, kept, PORT).equals(dissect(world.root, CAPTURE, PORT))
