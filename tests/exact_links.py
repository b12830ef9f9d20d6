# SPDX-License-Identifier: GPL-2.0-or-later
"""Exact links: deep ones, on which no loss comes before SEARCH leaves slow start, and one that goes silent."""

from dataclasses import replace
from typing import Any

from lab.links.profile import Profile
from lab.runs.experiment import Experiment
from tests.conftest import SMALL, experiment_on

MSS_BYTES = 1448


def deep(rate_mbps: float, rtt_ms: float) -> Profile:
    """A constant link; its buffer holds eight bandwidth-delay products."""
    words = {
        "title": "a deep link for tests",
        "down": {"rate_mbps": rate_mbps, "delay_ms": rtt_ms / 2, "buffer_bdps": 8.0},
        "up": {"delay_ms": rtt_ms / 2},
        "recorded": [],
        "assumed": ["everything"],
    }
    return Profile.model_validate(words)


def lossy(profile: Profile, **down: Any) -> Profile:
    """The same link, which loses frames itself."""
    words = profile.model_dump(exclude_none=True)
    words["down"] |= down
    return Profile.model_validate(words)


def bdp_pkts(rate_mbps: float, rtt_ms: float) -> float:
    return rate_mbps * 1e3 * rtt_ms / 8 / MSS_BYTES


def silent(from_s: float, to_s: float) -> Profile:
    """Nothing reaches the client for a while."""
    words = SMALL.model_dump(exclude_none=True)
    steps = [{"from_s": 0.0, "value": 0}, {"from_s": from_s, "value": 100}, {"from_s": to_s, "value": 0}]
    words["down"]["loss_pct"] = {"model": "schedule", "source": "tests", "steps": steps}
    return Profile.model_validate(words)


def over(
    down: dict[str, Any], up: dict[str, Any], begin: str = "trial", mtu_bytes: int = 1500, **of: Any
) -> Experiment:
    """A download by CUBIC without HyStart, over wires that carry packets of this size."""
    words = {"title": "t", "down": down, "up": up, "recorded": [], "assumed": ["all"], "series_begin": begin}
    experiment = experiment_on(Profile.model_validate(words), "cubic_plain", mtu_bytes=mtu_bytes, **of)
    whole = experiment.topology.topology
    links = [link.model_copy(update={"mtu": max(link.mtu, mtu_bytes)}) for link in whole.links]
    topology = experiment.topology.model_copy(update={"topology": whole.model_copy(update={"links": links})})
    return replace(experiment, topology=topology)
