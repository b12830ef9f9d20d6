# SPDX-License-Identifier: GPL-2.0-or-later
"""From a trial's link to qdiscs: what each interface gets, and the files of steps that it follows.

What is constant is tbf and netem; what changes is `replay` and `delay_line`, which hold their steps in the kernel. A
delay line with frames is `delay_line` too, of one step where nothing changes. With the shaper netem all is tbf and
netem, and tc makes the steps. The files of steps are those of lab/node/qdiscs/series.py.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, groupby, takewhile
from pathlib import Path
from typing import TypeVar

from lab.links.draw import DrawnWay, Link
from lab.links.profile import Profile, Way
from lab.links.steps import Steps, first, merged, rows
from lab.links.tc_alone import NETEM, REPLAY, constant_delay, constant_rate
from lab.node.plan import Shape, Spec
from lab.node.qdiscs.qdisc import ROUNDING
from lab.node.qdiscs.qdisc_kind import Bottleneck
from lab.schema.topology import Topology

LATE_SHARE, LATE_LEAST_US = 0.01, 1000  # of the round trip: a delay line that is later has not kept up
FASTEST_TBF_BPS = 5_000_000_000  # timers of User Mode Linux are 0.5 us apart: tbf of 10 Gb/s carries 9.1
DELAY_LINE_PKTS = 1_000_000  # a limit that is never reached: the buffer is the bottleneck's
END = "end"
Value = TypeVar("Value")
Lines = Iterator[tuple[str, ...]]


def shapes(profile: Profile, link: Link, topology: Topology, seed: int, shaper: str = REPLAY) -> list[Shape]:
    """Build the qdisc of every shaped interface, and name the file of its steps in the trial's folder."""
    return [_shape(topology, part, spec, has_steps) for part, spec, has_steps in qdiscs(profile, link, seed, shaper)]


def qdiscs(profile: Profile, link: Link, seed: int, shaper: str = REPLAY) -> list[tuple[str, Spec, bool]]:
    """Return each part of a link with its qdisc, and whether it follows steps."""
    ends = [
        (part, bottleneck(way, drawn, seed, shaper), _capacity(drawn, link))
        for part, drawn, way in _ends(profile, link)
    ]
    lines = [
        (part, delay_line(way, drawn, seed, late_us(link.base_rtt_ms), shaper), _delays(way, drawn, link))
        for part, drawn, way in _delay_lines(profile, link)
    ]
    return [(part, spec, steps is not None) for part, spec, steps in [*ends, *lines]]


def write_steps(profile: Profile, link: Link, folder: Path) -> None:
    """Write the files of steps (lab/node/qdiscs/series.py); UserError where a value is none that a qdisc takes."""
    folder.mkdir(exist_ok=True)
    files = [(part, _capacity(drawn, link)) for part, drawn, _ in _ends(profile, link)]
    files += [(part, _delays(way, drawn, link)) for part, drawn, way in _delay_lines(profile, link)]
    for part, lines in files:
        if lines is not None:
            with (folder / f"{part}.tsv").open("w") as stream:
                stream.writelines("\t".join(line) + "\n" for line in lines)


def bottleneck(way: Way, drawn: DrawnWay, seed: int, shaper: str = REPLAY) -> Spec:
    """Build the qdisc of a bottleneck with its buffer; tbf drops a frame that is longer than its buffer."""
    assert drawn.buffer_bytes
    if way.on_demand and drawn.on_demand:
        return {
            "kind": "on_demand",
            "frame_us": round(way.on_demand.frame_ms * 1e3),
            "phase_us": int(drawn.on_demand.frame_phase_ms * 1e3),  # less than a frame, always
            "guaranteed_pkts": drawn.on_demand.guaranteed_pkts,
            "request_delay_us": round(drawn.on_demand.request_delay_ms * 1e3),
            "cap_bytes": drawn.on_demand.cap_bytes,
            "report": way.on_demand.report,
            "period_us": round((way.on_demand.period_ms or 0) * 1e3),
            "limit_bytes": drawn.buffer_bytes,
        }
    assert drawn.mean_rate_mbps is not None
    start_bps = round(drawn.mean_rate_mbps * 1e6)  # until its steps begin: the first of them may be a stall
    if shaper == NETEM:
        return constant_rate(start_bps, drawn.buffer_bytes, drawn.frame_bytes)
    child = way.queue.spec(Bottleneck(drawn.buffer_bytes, start_bps, seed, drawn.frame_bytes))
    replay = {"kind": "replay", "limit_bytes": drawn.buffer_bytes, "overhead_bytes": 0, "child": child}
    if drawn.opportunity_bytes is not None:
        return replay | {"mode": "opportunities", "start_bps": start_bps}
    tbf = constant_rate(start_bps, drawn.buffer_bytes, drawn.frame_bytes)
    rough = start_bps % 8 > ROUNDING * start_bps  # tbf counts whole bytes a second
    fits = start_bps <= FASTEST_TBF_BPS and drawn.buffer_bytes >= tbf["burst_bytes"] and not rough
    if isinstance(drawn.rate_mbps, Steps) or child["kind"] != "bfifo" or not fits:
        return replay | {"mode": "rate", "start_bps": start_bps}
    return tbf


def delay_line(way: Way, drawn: DrawnWay, seed: int, late_us: int, shaper: str = REPLAY) -> Spec:
    """Build the qdisc of a delay line as it is before its first step."""
    same = {
        "limit_pkts": DELAY_LINE_PKTS,
        "delay_us": round(first(drawn.delay_ms) * 1e3),
        "loss_pct": first(drawn.loss_pct),
        "seed": seed,
    }
    if shaper == NETEM or not _follows(way, drawn):
        return constant_delay(same)
    frame_us, frame_pkts = (round(way.frames.period_ms * 1e3), way.frames.packets or 0) if way.frames else (0, 0)
    return same | {"kind": "delay_line", "frame_us": frame_us, "frame_pkts": frame_pkts, "late_us": late_us}


def late_us(base_rtt_ms: float) -> int:
    """Return after how much a late departure changes what is measured: a share of the round trip."""
    return max(round(LATE_SHARE * base_rtt_ms * 1e3), LATE_LEAST_US)


def _ends(profile: Profile, link: Link) -> list[tuple[str, DrawnWay, Way]]:
    both = [("bottleneck", link.down, profile.down), ("bottleneck-up", link.up, profile.up)]
    return [(part, drawn, way) for part, drawn, way in both if way.shaped]


def _delay_lines(profile: Profile, link: Link) -> list[tuple[str, DrawnWay, Way]]:
    return [("delay-down", link.down, profile.down), ("delay-up", link.up, profile.up)]


def _shape(topology: Topology, part: str, spec: Spec, has_steps: bool) -> Shape:
    node, dev = topology.part(part)
    return {"part": part, "node": node, "dev": dev, "spec": spec, "steps": f"link/{part}.tsv" if has_steps else None}


def _capacity(drawn: DrawnWay, link: Link) -> Lines | None:
    """Return the steps of a bottleneck, from 0 on and with their end; None where it does not change."""
    if drawn.opportunity_bytes is not None:
        begun = chain([(0.0, 0.0)], (row for row in rows(drawn.opportunity_bytes) if row[0] >= 1e-6))  # none at once
        return _ended(_whole_bytes(_by_us(begun)), link)
    if isinstance(drawn.rate_mbps, Steps):
        return _ended(((t_us, f"{mbps[-1] * 1e6:.0f}") for t_us, mbps in _by_us(rows(drawn.rate_mbps))), link)
    return None


def _whole_bytes(opportunities: Iterable[tuple[str, list[float]]]) -> Lines:
    """Round all that may pass by each time: of a small share of a packet each, errors would add up."""
    total, given = 0.0, 0
    for t_us, sizes_bytes in opportunities:
        total += sum(sizes_bytes)
        yield t_us, str(round(total) - given)
        given = round(total)


def _follows(way: Way, drawn: DrawnWay) -> bool:
    """Return whether a line is `delay_line`: netem's slots begin whenever its queue is looked at."""
    return bool(way.frames) or isinstance(drawn.delay_ms, Steps) or isinstance(drawn.loss_pct, Steps)


def _delays(way: Way, drawn: DrawnWay, link: Link) -> Lines | None:
    """Return the steps of a `delay_line`, delay and loss in each, and their end; None for netem."""
    if not _follows(way, drawn):
        return None
    together = ((t_us, values[-1]) for t_us, values in _by_us(merged(drawn.delay_ms, drawn.loss_pct)))
    steps = ((t_us, f"{delay_ms * 1e3:.0f}", f"{loss_pct:.6g}") for t_us, (delay_ms, loss_pct) in together)
    return _ended(steps, link)


def _by_us(pairs: Iterable[tuple[float, Value]]) -> Iterator[tuple[str, list[Value]]]:
    """Give the values of each microsecond: the kernel's steps are at least one apart, those of a model may not be."""
    for t_us, same in groupby(pairs, key=lambda pair: _us(pair[0])):
        yield t_us, [value for _, value in same]


def _ended(steps: Lines, link: Link) -> Lines:
    """Close a series: the kernel refuses steps at its end or behind it, which a model may give."""
    end = _us(link.series_s)
    return chain(takewhile(lambda step: int(step[0]) < int(end), steps), [(end, END)])


def _us(t_s: float) -> str:
    return f"{t_s * 1e6:.0f}"
