# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare both shapers, the lab's own qdiscs and tc alone, on the same links and trials.

`python -m bench.shapers` writes results/bench/shapers.json, which docs/shapers.md shows.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench import crossing, shaped_packets
from bench.measured import Figure, show_and_store
from bench.shaped_packets import Accuracy
from lab.backends.virtual import Virtual, ensure_built
from lab.base.scratch import scratch_folder
from lab.judge.outcome import outcome
from lab.kernel.recipe import Recipe
from lab.links.profile import Profile, load_profile
from lab.links.tc_alone import NETEM, SHAPERS
from lab.runs.experiment import Experiment, shaped_by
from lab.runs.plan import draw
from lab.runs.trial import Job, run_trial
from lab.schema.cca import load_ccas
from lab.schema.scenario import Scenario
from lab.schema.topology import load_topology
from lab.tables.stored_trial import Trial

NAME = "shapers"
SENDERS = ("cubic", "search")
TRIALS, DURATION_S, SEED = 2, 10, 1
LOSSES = [{"from_s": 0.0, "value": 0.1}, {"from_s": 3.0, "value": 2.0}, {"from_s": 6.0, "value": 0.5}]
Exits = dict[tuple[str, int], float | None]  # by sender and trial


def _as_rate(name: str, bin_ms: int) -> Profile:
    """Return an LTE profile whose opportunities are counted in bins, and whose return link has no bottleneck."""
    content = load_profile(name, "bench-shapers").model_dump(exclude_none=True)
    series = content["down"].pop("opportunities")
    content["down"]["rate_mbps"] = series | {"bin_ms": bin_ms}
    return Profile.model_validate(content | {"up": {}})


def _lossy() -> Profile:
    down = {"rate_mbps": 20, "delay_ms": 20, "buffer_bytes": 200_000}
    down["loss_pct"] = {"model": "schedule", "source": "chosen", "steps": LOSSES}  # type: ignore[assignment]
    content = {"title": "a link whose loss changes", "down": down, "up": {"delay_ms": 20}}
    return Profile.model_validate(content | {"recorded": [], "assumed": ["everything"]})


def _of_the_lab(name: str) -> Callable[[], Profile]:
    return lambda: load_profile(name, "bench-shapers")


LINKS: dict[str, Callable[[], Profile]] = {
    "geo-small": _of_the_lab("geo-small"),
    "leo-starlink-15s": _of_the_lab("leo-starlink-15s"),
    "5g-driving": _of_the_lab("5g-driving"),
    "wifi-office": _of_the_lab("wifi-office"),
    "lte-verizon in bins of 100 ms": lambda: _as_rate("lte-verizon", 100),
    "lte-verizon in bins of 10 ms": lambda: _as_rate("lte-verizon", 10),
    "loss that changes": _lossy,
}


def measure() -> None:
    """Measure every link with both shapers."""
    backend = ensure_built(Recipe())
    figures: list[Figure] = []
    with scratch_folder() as scratch:
        for number, (name, profile) in enumerate(LINKS.items()):
            figures += _figures(name, profile(), backend, scratch / str(number))
    show_and_store(NAME, "make bench-shapers", figures, {"trials": TRIALS, "duration_s": DURATION_S})


def _figures(name: str, profile: Profile, backend: Virtual, folder: Path) -> Iterator[Figure]:
    usual: Exits = {}
    for shaper in SHAPERS:
        experiment = shaped_by(_experiment(profile), shaper)
        run = crossing.in_virtual(backend.kernel, backend.world.root)
        link = draw(experiment, 1).link
        accuracy = shaped_packets.measured(run, profile, link, shaper, folder / shaper / "packets", DURATION_S)
        trials = _trials(experiment, backend, folder / shaper)
        exits = {key: _exit_s(trial) for key, trial in trials.items()}
        usual = usual or exits
        figures = [*_of_packets(accuracy), *_of_trials(list(trials.values()))]
        if shaper == NETEM:
            figures += _moved(usual, exits)
        for figure in figures:
            figure["name"] = f"{name}, {shaper}: {figure['name']}"
        yield from figures


def _experiment(profile: Profile) -> Experiment:
    fields: dict[str, Any] = {"topology": "path", "profile": "bench", "ccas": list(SENDERS), "trials": TRIALS}
    scenario = Scenario(question="Does the shaper matter?", duration_s=DURATION_S, seed=SEED, **fields)
    known = load_ccas()
    return Experiment(NAME, scenario, profile, load_topology("path", NAME), {cca: known[cca] for cca in SENDERS})


def _trials(experiment: Experiment, backend: Virtual, folder: Path) -> dict[tuple[str, int], Trial]:
    found = {}
    for cca in SENDERS:
        for number in range(1, TRIALS + 1):
            job = Job(experiment, cca, number, folder / f"{cca}-{number}", backend, keep_capture=False)
            run_trial(job)
            found[cca, number] = Trial(job.folder)
    return found


def _exit_s(trial: Trial) -> float | None:
    return outcome(trial)[0]["exit_s"]


def _of_packets(accuracy: Accuracy) -> Iterator[Figure]:
    yield _figure("bytes in 100 ms, error at p99", _at(accuracy.windows_pct, 0.99), "%")
    yield _figure("all bytes, error", max(accuracy.excess_pct, key=abs, default=None), "%")
    yield _figure("one-way delay, error at p99", _at(accuracy.delays_ms, 0.99), "ms")
    yield _figure("lost, beyond the requested loss", max(accuracy.excess_lost_pkts, key=abs, default=None), "packets")
    yield {"name": "reordered", "value": accuracy.reordered_pkts, "unit": "packets"}


def _of_trials(trials: list[Trial]) -> Iterator[Figure]:
    yield {"name": "valid trials", "value": f"{sum(trial.valid for trial in trials)} of {len(trials)}", "unit": ""}
    throughput_mbps = [trial.meta["flows"][0]["throughput_mbps"] for trial in trials]
    yield _figure("throughput, mean", float(np.mean(throughput_mbps)), "Mb/s")


def _moved(usual: Exits, exits: Exits) -> Iterator[Figure]:
    """How far exits from slow start moved, and how many flows left it with one shaper only."""
    both = [(usual[key], exits[key]) for key in usual]
    moves_ms = [1e3 * abs(one - other) for one, other in both if one is not None and other is not None]
    yield _figure("exit moved by, median", _at(moves_ms, 0.5), "ms")
    yield _figure("exit moved by, at most", max(moves_ms, default=None), "ms")
    once = sum((one is None) != (other is None) for one, other in both)
    yield {"name": "exits with one shaper only", "value": f"{once} of {len(both)}", "unit": ""}


def _at(values: list[float], share: float) -> float | None:
    return float(np.quantile(values, share)) if values else None


def _figure(name: str, value: float | None, unit: str) -> Figure:
    return {"name": name, "value": None if value is None else float(f"{value:.3g}"), "unit": unit}


if __name__ == "__main__":
    measure()
