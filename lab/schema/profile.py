# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles: how a link behaves, in both directions, and what differs from trial to trial."""

from typing import Annotated

from pydantic import Field, model_validator

from lab.paths import PROFILES
from lab.schema.load import Strict, choose, load, names

Positive = Annotated[float, Field(gt=0, strict=False)]
NotNegative = Annotated[float, Field(ge=0, strict=False)]
Percent = Annotated[float, Field(ge=0, le=100, strict=False)]
RATE_LIMIT_MBPS = 10_000  # netem keeps the order at this rate; a bottleneck above it would not be one
SMALLEST_BUFFER_BYTES = 1514  # one Ethernet frame


class Grant(Strict):
    """From a time on, this many packets may leave in each frame."""

    from_s: NotNegative
    packets: Annotated[int, Field(ge=1)]


class Frames(Strict):
    """A link that sends in frames, and grants more of each with time (netem's slot)."""

    period_ms: Positive
    grants: Annotated[list[Grant], Field(min_length=1)]

    @model_validator(mode="after")
    def _in_order(self) -> "Frames":
        times = [grant.from_s for grant in self.grants]
        if times[0] != 0 or sorted(set(times)) != times:
            raise ValueError("grants that start at 0 s and follow each other")
        return self


class Down(Strict):
    """Towards the client: the bottleneck and its buffer, then the delay."""

    rate_mbps: Annotated[float, Field(gt=0, le=RATE_LIMIT_MBPS, strict=False)]
    delay_ms: NotNegative
    buffer_bytes: Annotated[int, Field(ge=SMALLEST_BUFFER_BYTES, lt=2**32)]
    loss_pct: Percent = 0.0


class Up(Strict):
    """Towards the server: what the acknowledgements cross."""

    delay_ms: NotNegative
    loss_pct: Percent = 0.0
    frames: Frames | None = None


class Noise(Strict):
    """What is drawn anew from each trial's seed."""

    start_phase_ms: NotNegative = 0.0
    grant_time_sd_pct: Percent = 0.0
    grant_packets_sd_pct: Percent = 0.0


class Profile(Strict):
    """One link, with the honest list of what was recorded and what was modelled."""

    title: Annotated[str, Field(min_length=1)]
    down: Down
    up: Up
    noise: Noise = Noise()
    recorded: list[str]
    modelled: list[str]

    @property
    def base_rtt_ms(self) -> float:
        """Return the round trip without any queue or frame."""
        return self.down.delay_ms + self.up.delay_ms


def load_profile(name: str, asked_in: str) -> Profile:
    """Read the profile a scenario names."""
    choose(
        "profile of trace-profiles/",
        name,
        [n for n in names(PROFILES, "*.yml") if n != "datasets"],
        asked_in,
        "profile",
    )
    return load(Profile, PROFILES / f"{name}.yml")
