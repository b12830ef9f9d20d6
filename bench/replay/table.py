# SPDX-License-Identifier: GPL-2.0-or-later
"""Store the bench's figures, one file per measured kernel."""

from collections.abc import Iterator

import numpy as np

from bench.measured import Figure, show_and_store
from bench.replay.replayed import Figures

SHARES = {"p50": 0.5, "p99": 0.99, "max": 1.0}
# measure -> the key in a trace's figures, and the target in virtual time
SPREADS = {
    "bytes in 100 ms, error in %": ("window_error_pct", "≤ 0.5"),
    "one-way delay, error in ms": ("delay_error_ms", "≤ 0.05 at p99"),
    "latest departure of each delay line, us": ("latest_us", ""),
}
UNITS = {name: tuple(name.split(", error in ")) for name in SPREADS if ", error in " in name} | {
    "latest departure of each delay line, us": ("latest departure of each delay line", "us")
}
COUNTS = {"packets reordered": "reordered_pkts", "packets lost": "lost_pkts"}


def spread(values: list[float]) -> dict[str, float]:
    """Return the middle, the 99th percentile and the largest of values."""
    return {name: float(np.quantile(values, share)) for name, share in SHARES.items()} if values else {}


def line(figures: Figures) -> str:
    """Format one trace: p50/p99/max of each measure."""
    parts = [f"{figures['trace']} {figures['column']} ({figures['kind']}), {figures['seconds']:g} s:"]
    for name, (key, _) in SPREADS.items():
        if figures.get(key):
            parts.append(f"{name} {'/'.join(f'{value:.3g}' for value in spread(figures[key]).values())};")
    return " ".join([*parts, f"{figures['reordered_pkts']} reordered, {figures['lost_pkts']} lost"])


def store(where: str, traces: list[Figures]) -> None:
    """Write what was measured on a kernel: all traces pooled, and each."""
    each = [trace | {key: spread(trace[key]) for key, _ in SPREADS.values() if trace.get(key)} for trace in traces]
    details = {"release": traces[0]["kernel"], "traces": each}
    show_and_store(f"replay-{where}", f'make bench-replay BENCH="--where {where}"', list(_figures(traces)), details)


def _figures(traces: list[Figures]) -> Iterator[Figure]:
    yield {"name": "series replayed", "value": len(traces), "unit": "series"}
    for name, (key, target) in SPREADS.items():
        quantity, unit = UNITS[name]
        for share, value in spread([value for trace in traces for value in trace.get(key, ())]).items():
            figure: Figure = {"name": f"{quantity}, {share}", "value": float(f"{value:.3g}"), "unit": unit}
            yield figure | {"target": target} if target else figure
    for name, key in COUNTS.items():
        yield {"name": name, "value": sum(trace[key] for trace in traces), "unit": "packets", "target": "0"}
