# SPDX-License-Identifier: GPL-2.0-or-later
"""How late a server begins: drawn from the trial's seed, whatever else is drawn, and off by a field."""

import struct
from pathlib import Path

import numpy as np
import pytest

from lab.base.errors import UserError
from lab.links.draw import draw_link
from lab.links.profile import Noise, load_profile, read_profile
from lab.node.traffic.late_start import SYN, arrived
from lab.runs.experiment import digest

GEO = load_profile("geo-viasat", "a test")


def links(server_start_ms: float, count: int = 200) -> list[tuple[float, object]]:
    """Draw links of GEO: how late the server begins, and what else was drawn."""
    noise = GEO.noise.model_copy(update={"server_start_ms": server_start_ms})
    profile = GEO.model_copy(update={"noise": noise})
    drawn = [draw_link(profile, 10, np.random.default_rng(seed)) for seed in range(count)]
    return [(link.server_start_s, (link.start_phase_s, repr(link.down.on_demand), link.buffer_bytes)) for link in drawn]


def test_a_server_begins_within_four_ms_or_at_once_and_what_knew_no_draw_keeps_its_digest() -> None:
    late_s = [late for late, _ in links(Noise().server_start_ms)]
    assert 0 <= min(late_s) < 0.0004
    assert 0.0036 < max(late_s) <= 0.004
    assert sum(late_s) / len(late_s) == pytest.approx(0.002, rel=0.15)
    assert links(Noise().server_start_ms) == links(4.0)
    off, on = links(0.0, 20), links(50.0, 20)
    assert {late for late, _ in off} == {0.0}
    assert [rest for _, rest in off] == [rest for _, rest in on]
    old = GEO.model_dump()
    del old["noise"]["server_start_ms"]
    zero = GEO.model_dump() | {"noise": GEO.noise.model_dump() | {"server_start_ms": 0.0}}
    assert digest(zero) == digest(old) != digest(GEO.model_dump())


@pytest.mark.parametrize("value", ["-1", "1001", "soon"])
def test_a_time_that_cannot_be_is_refused(tmp_path: Path, value: str) -> None:
    file = tmp_path / "mine.yml"
    file.write_text(
        f"title: mine\nextends: wired-clean\nnoise: {{server_start_ms: {value}}}\nrecorded: []\nassumed: []\n"
    )
    with pytest.raises(UserError, match=r"noise\.server_start_ms"):
        read_profile(file)


def packet(target: int, flags: int = 0, protocol: int = 6, options_bytes: int = 0) -> bytes:
    words = 5 + options_bytes // 4
    ip = bytes([0x40 | words, 0, 0, 0, 0, 0, 0, 0, 64, protocol]) + bytes(10 + options_bytes)
    return ip + struct.pack("!HHIIBB", 40_000, target, 0, 0, 0x50, flags) + bytes(6)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (packet(5201, SYN), (40_000, True)),
        (packet(5201, 0x10, options_bytes=8), (40_000, False)),
        (packet(5201, SYN, protocol=17), (40_000, False)),  # a datagram has no flags
        (packet(5202, SYN), None),
        (b"", None),
        (packet(5201)[:30], None),
    ],
)
def test_a_packet_to_the_server_names_its_client_and_whether_it_opens_a_connection(
    content: bytes, found: tuple[int, bool] | None
) -> None:
    assert arrived(content, 5201) == found
