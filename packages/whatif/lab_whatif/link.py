# SPDX-License-Identifier: GPL-2.0-or-later
"""Links that a capture does not distinguish, as profiles that `lab run --profile` takes."""

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import yaml
from numpy.typing import NDArray

from lab.base.plain_file import write_whole
from lab.node.traffic.series_begin import AHEAD_NS
from lab_whatif.infer import Inferred

ROOM = 4  # times the largest queue: a buffer whose end was not seen
ABOVE = 1.05  # times what passed: a link without a backlog carried more
SEEN_PCT = 95  # percentile of the known rates that stands for the highest: the highest step is the grain of packets
FEWEST_LOSSES = 3  # by which a random loss is stated
HIDDEN_PCT = 0.001
CODEL = {"kind": "codel", "target_ms": 5, "interval_ms": 100}  # RFC 8289, section 4.4; Linux's fq_codel, per flow
CODEL_BYTES = 10240 * 1514  # RFC 8290, section 5.2.3: the limit of fq_codel, in full frames
SOURCE = "inferred from the capture (lab whatif); evidence.json has each number's bound"
RECORDED = "capacity where backlogged, base RTT, buffer and the ACKs' waits: evidence.json"
RUNS = "whatif-"  # how the names of runs on these links begin
Steps = list[dict[str, float]]


@dataclass(frozen=True)
class Variant:
    """One of the links: each field is an assumption of it."""

    name: str
    fill: Literal["highest", "nearest"]  # the rate where there was no backlog
    ack: Literal["early", "middle", "late"]  # within the bounds of each ACK's arrival
    seed: int  # of what a sender and the link draw
    step_factor: float = 1.0
    room: float = ROOM
    is_codel: bool = False  # what was lost was dropped by CoDel

    @property
    def assumed(self) -> list[str]:
        """Return its assumptions as sentences."""
        fills = {
            "highest": f"the {SEEN_PCT}th percentile of the known rates",
            "nearest": "the nearest known rate, and above what passed",
        }
        law = f"CoDel ({CODEL['target_ms']} ms, {CODEL['interval_ms']} ms) drops, and nothing else is lost"
        end = f"a buffer whose end was not seen holds {self.room:g} times the largest queue"
        return [
            f"rate where there was no backlog: {fills[self.fill]}",
            f"each ACK's arrival within its bounds: {self.ack}",
            law if self.is_codel else end,
            f"what a sender draws at random (BBR: when it probes), and which packets the link loses: seed {self.seed}",
            "no other traffic than what the rate already contains; the way down is constant without a queue",
        ]


VARIANTS = (
    Variant("a", "highest", "middle", seed=1),
    Variant("b", "highest", "late", seed=2, room=1.05),
    Variant("c", "nearest", "early", seed=3),
    Variant("d", "highest", "early", seed=4, step_factor=2.0),
    Variant("e", "highest", "middle", seed=5, step_factor=0.5),
)
UNDER_CODEL = tuple(replace(each, name=f"{each.name}-codel", is_codel=True) for each in VARIANTS)


def profile(inferred: Inferred, variant: Variant, begin_s: float) -> dict[str, Any]:
    """Return a profile; `begin_s` is when the bulk's first segment arrived, which its series begin with."""
    step_s = inferred.step_s * variant.step_factor
    half_ms = inferred.path.base_rtt_ms / 2
    shift_s = half_ms / 1e3 - begin_s - AHEAD_NS / 1e9
    down = {
        "rate_mbps": _schedule(rates(inferred, variant, step_s), step_s, shift_s),
        "delay_ms": round(half_ms, 3),
        **_queue(inferred, variant),
    }
    found = inferred.buffer
    if not variant.is_codel and found.random_loss_pct > HIDDEN_PCT and found.losses >= FEWEST_LOSSES:
        down["loss_pct"] = round(found.random_loss_pct, 4)
    waits_ms = half_ms + up_waits_s(inferred, variant, step_s) * 1e3
    return {
        "title": f"The link of {inferred.name}, {variant.name}",
        "down": down,
        "up": {"delay_ms": _schedule(waits_ms, step_s, shift_s)},
        "noise": {"server_start_ms": 0},
        "series_begin": "data",
        "recorded": [RECORDED],
        "assumed": variant.assumed,
    }


def is_inner(run: dict[str, Any]) -> bool:
    """Return whether a run.json is that of a run on an inferred link, made for an answer."""
    profile = run.get("profile")
    return str(run.get("name")).startswith(RUNS) and isinstance(profile, dict) and profile.get("recorded") == [RECORDED]


def written(file: Path, content: dict[str, Any]) -> Path:
    """Write a profile."""
    lines = yaml.dump(content, sort_keys=False, width=120, Dumper=yaml.CSafeDumper)
    return write_whole(file, f"# SPDX-License-Identifier: GPL-2.0-or-later\n{lines}")


def rates(inferred: Inferred, variant: Variant, step_s: float) -> NDArray[np.float64]:
    """Return the rate of each step, filled where it is not known."""
    table = inferred.capacity_in(step_s)
    rate = table["replayed_mbps"].to_numpy()
    known = ~np.isnan(rate)
    least = table["at_least_mbps"].to_numpy() * ABOVE
    places = np.arange(len(rate))
    if variant.fill == "highest" or not known.any():
        fill = np.full(len(rate), np.percentile(rate[known], SEEN_PCT) if known.any() else least.max())
    else:
        right = np.clip(np.searchsorted(places[known], places), 0, known.sum() - 1)
        left = np.maximum(right - 1, 0)
        at = places[known]
        fill = rate[np.where(abs(at[left] - places) <= abs(at[right] - places), at[left], at[right])]
    return np.where(known, rate, np.maximum(fill, least))


def up_waits_s(inferred: Inferred, variant: Variant, step_s: float) -> NDArray[np.float64]:
    """Return how long ACKs waited, by the time of their departure; a step without ACKs keeps the one before."""
    up = inferred.path.up
    waits = {"early": up.least_s, "late": up.most_s, "middle": (up.least_s + up.most_s) / 2}[variant.ack]
    count = max(int(np.ceil(inferred.length_s / step_s)), 1)
    places = np.searchsorted(up.depart_s, np.arange(count + 1) * step_s)
    result, last = np.zeros(count), 0.0
    for number, (begin, end) in enumerate(pairwise(places)):
        last = float(np.median(waits[begin:end])) if end > begin else last
        result[number] = last
    return result


def _queue(inferred: Inferred, variant: Variant) -> dict[str, Any]:
    found = inferred.buffer
    with_room = max(round(found.most_queued_bytes * variant.room), 2 * inferred.mss_bytes + 200)
    if variant.is_codel:
        return {"buffer_bytes": max(with_room, CODEL_BYTES), "queue": CODEL}
    if found.kind == "tail":
        return {"buffer_bytes": found.bytes}
    if found.kind == "at least":
        return {"buffer_bytes": with_room}
    size_bytes = max(2 * found.bytes, found.most_queued_bytes)
    share, drop_pct = found.bytes / size_bytes, found.drop_pct
    if drop_pct is None:
        return {"buffer_bytes": found.most_queued_bytes}
    queue = {"kind": "step_drop", "threshold_share": round(share, 5), "drop_pct": round(drop_pct, 2)}
    return {"buffer_bytes": size_bytes, "queue": queue}


def _schedule(values: NDArray[np.float64], step_s: float, shift_s: float) -> dict[str, Any]:
    """Return a schedule of the values that change; what lies before its begin is left out."""
    times = np.round(np.arange(len(values)) * step_s + shift_s, 4)  # first, so that no two steps begin at 0
    first = max(int(np.searchsorted(times, 0.0, side="right")) - 1, 0)
    times[first] = 0.0
    steps: Steps = []
    for t_s, value in zip(times[first:], values[first:], strict=True):
        rounded = round(float(value), 4)
        if not steps or steps[-1]["value"] != rounded:
            steps.append({"from_s": float(t_s), "value": rounded})
    return {"model": "schedule", "source": SOURCE, "steps": steps}
