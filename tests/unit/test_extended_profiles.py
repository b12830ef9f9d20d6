# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile that extends another has its fields, except for those that it states itself and for the sources."""

from pathlib import Path

import pytest

from lab.base.errors import UserError
from lab.links.profile import OnDemand, load_profile, read_profile

MINE = """
title: a faster one
extends: wired-clean
down: {rate_mbps: 60}
recorded: []
assumed: [the rate]
"""


def test_it_has_the_fields_of_its_base_and_its_own(tmp_path: Path) -> None:
    (tmp_path / "mine.yml").write_text(MINE)
    mine, base = read_profile(tmp_path / "mine.yml"), load_profile("wired-clean", "test")
    assert mine.down.rate_mbps == 60
    assert mine.down.delay_ms == base.down.delay_ms
    assert mine.down.buffer_bdps == base.down.buffer_bdps
    assert mine.down.buffer_bytes == base.down.buffer_bytes
    assert mine.up == base.up
    assert mine.title == "a faster one"


def test_sources_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "mine.yml").write_text(MINE.replace("assumed: [the rate]\n", ""))
    with pytest.raises(UserError, match=r"mine.yml: assumed=: must be given"):
        read_profile(tmp_path / "mine.yml")


@pytest.mark.parametrize(
    ("base", "rule"),
    [
        ("nothing", "extends=nothing: must be a known profile of trace-profiles/: "),
        ("geo-viasat-36mb", "extends=geo-viasat-36mb: must be a profile that extends none itself"),
        ("[wired-clean]", r"extends=\['wired-clean'\]: must be a known profile"),
    ],
)
def test_a_base_that_cannot_be_one_is_refused(tmp_path: Path, base: str, rule: str) -> None:
    (tmp_path / "mine.yml").write_text(MINE.replace("extends: wired-clean", f"extends: {base}"))
    with pytest.raises(UserError, match=f"mine.yml: {rule}"):
        read_profile(tmp_path / "mine.yml")


def test_packets_are_chosen_from_whole_numbers() -> None:
    states = {"model": "choice", "values": [1, 1.5], "source": "made"}
    fields = {"frame_ms": 40, "guaranteed_pkts": states, "request_delay_ms": 560, "cap_bytes": 9000, "report": "new"}
    with pytest.raises(ValueError, match="guaranteed_pkts are chosen from whole numbers"):
        OnDemand.model_validate(fields)
