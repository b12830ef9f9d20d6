# SPDX-License-Identifier: GPL-2.0-or-later
"""From a trial's link to qdiscs: what each interface gets, and the files of steps that it follows.

A file of steps has a header that names the fields of the qdisc's spec, `t_us` first; each row holds from its time on.
A bottleneck that changes is `replay`, which holds its steps in the kernel; a constant one is tbf. The delay line is
netem, its steps fed by a resident tc.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from lab.links.draw import DrawnWay, Link
from lab.links.steps import Quantity, Steps, first, mapped, merged
from lab.schema.profile import Profile, Way
from lab.schema.topology import Topology

ORDER_BPS = 10e9  # netem keeps packets in order only with a rate; this one delays a frame by 1.2 us
DELAY_LINE_PKTS = 1_000_000  # a limit that is never reached: the buffer is the bottleneck's
FULL_FRAME_BYTES = 1600  # TBF's burst: a larger one would let an idle link exceed its rate
Spec = dict[str, Any]
Table = tuple[tuple[str, ...], Iterator[tuple[float, tuple[float, ...]]]]


def shapes(profile: Profile, link: Link, topology: Topology, seed: int) -> list[dict[str, Any]]:
    """Word what every shaped interface gets, and where its steps lie in the trial's folder."""
    found = []
    for part, drawn, way in _bottlenecks(profile, link):
        found.append((part, bottleneck(way, drawn, seed), bool(_bottleneck_table(drawn))))
    for part, drawn, way in _delays(profile, link):
        found.append((part, delay_line(way, drawn, seed), bool(_delay_table(drawn))))
    return [_shape(topology, part, spec, steps) for part, spec, steps in found]


def write_steps(profile: Profile, link: Link, folder: Path) -> None:
    """Write the files of steps; UserError where a value is none that a qdisc takes."""
    folder.mkdir(exist_ok=True)
    for part, drawn, _ in _bottlenecks(profile, link):
        _write(folder / f"{part}.tsv", _bottleneck_table(drawn))
    for part, drawn, _ in _delays(profile, link):
        _write(folder / f"{part}.tsv", _delay_table(drawn))


def bottleneck(way: Way, drawn: DrawnWay, seed: int) -> Spec:
    """Word a bottleneck with its buffer."""
    assert drawn.buffer_bytes
    child = way.queue.spec(drawn.buffer_bytes, seed)
    if way.on_demand:
        return {
            "kind": "on_demand",
            "frame_us": round(way.on_demand.frame_ms * 1e3),
            "phase_us": round(drawn.frame_phase_ms * 1e3),
            "guaranteed_pkts": way.on_demand.guaranteed_pkts,
            "request_delay_us": round(way.on_demand.request_delay_ms * 1e3),
            "cap_bytes": way.on_demand.cap_bytes,
            "report": way.on_demand.report,
            "limit_bytes": drawn.buffer_bytes,
        }
    replay = {"kind": "replay", "limit_bytes": drawn.buffer_bytes, "overhead_bytes": 0, "child": child}
    if drawn.opportunity_bytes is not None:
        return replay | {"mode": "opportunities", "start_bps": 0}
    assert drawn.rate_mbps is not None
    start_bps = first(drawn.rate_mbps) * 1e6
    if isinstance(drawn.rate_mbps, Steps) or child["kind"] != "bfifo":
        return replay | {"mode": "rate", "start_bps": round(start_bps)}
    return {
        "kind": "tbf",
        "rate_bps": start_bps,
        "burst_bytes": FULL_FRAME_BYTES,
        "limit_bytes": drawn.buffer_bytes,
    }


def delay_line(way: Way, drawn: DrawnWay, seed: int) -> Spec:
    """Word a delay line as it is before its first step."""
    return {
        "kind": "netem",
        "limit_pkts": DELAY_LINE_PKTS,
        "delay_us": round(first(drawn.delay_ms) * 1e3),
        "loss_pct": first(drawn.loss_pct),
        "rate_bps": ORDER_BPS,
        "slot_us": round(way.frames.period_ms * 1e3) if way.frames else 0,
        "slot_pkts": drawn.grants[0][1] if drawn.grants else 0,
        "seed": seed,
    }


def _bottlenecks(profile: Profile, link: Link) -> list[tuple[str, DrawnWay, Way]]:
    both = [("bottleneck", link.down, profile.down), ("bottleneck-up", link.up, profile.up)]
    return [(part, drawn, way) for part, drawn, way in both if way.shaped]


def _delays(profile: Profile, link: Link) -> list[tuple[str, DrawnWay, Way]]:
    return [("delay-down", link.down, profile.down), ("delay-up", link.up, profile.up)]


def _shape(topology: Topology, part: str, spec: Spec, has_steps: bool) -> dict[str, Any]:
    node, dev = topology.part(part)
    return {"part": part, "node": node, "dev": dev, "spec": spec, "steps": f"link/{part}.tsv" if has_steps else None}


def _bottleneck_table(drawn: DrawnWay) -> Table | None:
    if drawn.opportunity_bytes is not None:
        return ("t_us", "bytes"), merged(drawn.opportunity_bytes)
    if isinstance(drawn.rate_mbps, Steps):
        return ("t_us", "rate_bps"), merged(mapped(drawn.rate_mbps, lambda mbps: mbps * 1e6))
    return None


def _delay_table(drawn: DrawnWay) -> Table | None:
    columns: dict[str, Quantity] = {}
    if isinstance(drawn.delay_ms, Steps):
        columns["delay_us"] = mapped(drawn.delay_ms, lambda ms: ms * 1e3)
    if isinstance(drawn.loss_pct, Steps):
        columns["loss_pct"] = drawn.loss_pct
    if len(drawn.grants) > 1:
        columns["slot_pkts"] = Steps.of([(at_s, float(packets)) for at_s, packets in drawn.grants])
    return (("t_us", *columns), merged(*columns.values())) if columns else None


def _write(file: Path, table: Table | None) -> None:
    if table is None:
        return
    names, changes = table
    lines = ("\t".join([f"{t_s * 1e6:.0f}", *(f"{value:.10g}" for value in values)]) for t_s, values in changes)
    with file.open("w") as stream:
        stream.writelines(line + "\n" for line in chain(["\t".join(names)], lines))
