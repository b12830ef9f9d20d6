# SPDX-License-Identifier: GPL-2.0-or-later
"""The link of a case as a profile: constant values, and the steps of its events.

A profile without events has steps, too: the same qdiscs carry the trial before an event and after it.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.base.plain_file import write_whole
from lab.node.qdiscs.qdisc_kind import FRAME_BYTES
from lab_conform.case import Case

SOURCE = "a case of lab conform"
Steps = list[tuple[float, float]]  # from this second of the series on, this value


@dataclass(frozen=True)
class Span:
    """A quantity of a way that has another value for a while; times count from the begin of the link's steps."""

    way: str
    quantity: str  # loss_pct, delay_ms, rate_mbps
    value: float
    begin_s: float
    end_s: float | None = None  # None: until the end


def profile(case: Case, spans: Iterable[Span]) -> dict[str, Any]:
    """Return the profile of a case with the spans of its events."""
    link, spans = case.link, list(spans)
    half_ms = link.rtt_ms / 2
    down: dict[str, Any] = {
        "rate_mbps": _schedule(spans, "down", "rate_mbps", link.rate_mbps),
        "delay_ms": _schedule(spans, "down", "delay_ms", half_ms),
        "loss_pct": _schedule(spans, "down", "loss_pct", link.loss_pct),
        "buffer_bytes": link.buffer_pkts * FRAME_BYTES,
    }
    if link.queue:
        down["queue"] = link.queue
    up: dict[str, Any] = {
        "delay_ms": _schedule(spans, "up", "delay_ms", half_ms),
        "loss_pct": _schedule(spans, "up", "loss_pct", 0.0),
    }
    if link.frames_ms:
        up["frames"] = {"period_ms": link.frames_ms}
    if link.up_rate_mbps:
        up |= {"rate_mbps": link.up_rate_mbps, "buffer_bytes": link.buffer_pkts * FRAME_BYTES}
    return {
        "title": "The link of a case",
        "down": down,
        "up": up,
        "noise": {"server_start_ms": 0},
        "recorded": [],
        "assumed": ["all of it: a case's file has the reasons"],
    }


def digest(content: dict[str, Any]) -> str:
    """Digest a profile, or what else makes one trial another."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


def written(content: dict[str, Any], folder: Path) -> Path:
    """Write a profile under its digest: JSON is YAML, and this one no person reads."""
    folder.mkdir(parents=True, exist_ok=True)
    file, text = folder / f"{digest(content)}.yml", json.dumps(content)
    return file if file.is_file() and file.read_bytes() == text.encode() else write_whole(file, text)


def _schedule(spans: list[Span], way: str, quantity: str, base: float) -> dict[str, Any]:
    steps = _steps([each for each in spans if (each.way, each.quantity) == (way, quantity)], base)
    return {
        "model": "schedule",
        "source": SOURCE,
        "steps": [{"from_s": round(t_s, 6), "value": value} for t_s, value in steps],
    }


def _steps(spans: list[Span], base: float) -> Steps:
    """Lay spans over a base value; a later event stands above an earlier one."""
    times = {0.0} | {each.begin_s for each in spans} | {each.end_s for each in spans if each.end_s is not None}
    found: Steps = []
    for t_s in sorted(times):
        value = base
        for each in spans:
            if each.begin_s <= t_s and (each.end_s is None or t_s < each.end_s):
                value = each.value
        if not found or found[-1][1] != value:
            found.append((t_s, value))
    return found
