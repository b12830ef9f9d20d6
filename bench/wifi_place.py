# SPDX-License-Identifier: GPL-2.0-or-later
"""WiFi measured where the paper measured it: throughput at the server, and a client that acknowledges seldom.

`python -m bench.wifi_place [TRIALS]` runs wifi-paper-high where no run of it is stored. The paper's throughputs are
"measured from the server-side tcpdump", ours at the client. Its client was a Mac, whose TCP acknowledges up to eight
segments at once while data streams in; ours acknowledges every second one, as Linux does. The first is computed from
the same trials; of the second what SEARCH sees is replayed, with one ACK of two, four and eight left.
"""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace

import polars as pl
from lab_papers.evaluation.search.replay import Download, class_of, downloads, exit_of
from lab_papers.fullest import first_stored
from lab_papers.search_replay import version

from bench.measured import Figure, show_and_store
from lab.base import paths
from lab.base.errors import UserError
from lab.base.stats import mean_sd
from lab.judge.classify import by_bitrate
from lab.judge.median_throughput import INTERVAL_S, throughput
from lab.judge.rules.median_throughput_1s import median_first_second_mbps
from lab.judge.slow_start import first_exit
from lab.judge.stored import Stored
from lab.kernel.build import find
from lab.tables.downloads import FLOW
from lab.tables.stored_trial import Trial

SCENARIO, TRIALS = "wifi-paper-high", 20
KEPT = (1, 2, 4, 8)  # of so many ACKs one is left


def at_server(trial: Trial) -> pl.DataFrame:
    """Return what the server sent in each interval, retransmissions included, as throughput() does at the client."""
    acks = trial.acks.filter(pl.col("flow") == FLOW).select("t_s", sent=pl.col("snd_nxt_bytes").diff().fill_null(0))
    again = trial.retransmits.filter(pl.col("flow") == FLOW).select("t_s", sent=pl.lit(trial.meta["mss_bytes"]))
    interval = (pl.col("t_s") / INTERVAL_S).floor().cast(pl.Int64)
    sent = pl.concat([acks, again], how="vertical_relaxed").group_by(interval=interval).agg(pl.col("sent").sum())
    every = pl.DataFrame({"interval": range(int(trial.acks["t_s"].to_numpy().max() / INTERVAL_S))})
    filled = every.join(sent, on="interval", how="left", maintain_order="left").fill_null(0)
    return filled.select(
        begin_s=pl.col("interval") * INTERVAL_S,
        end_s=(pl.col("interval") + 1) * INTERVAL_S,
        throughput_mbps=pl.col("sent") * 8e-6 / INTERVAL_S,
    )


def places(stored: Stored) -> Iterator[Figure]:
    """Give the throughput, the median of the first second and the early exits of each sender at both ends."""
    rows = [row for trial in stored.run.trials if trial.valid for row in _of_trial(trial)]
    table = pl.DataFrame(rows, infer_schema_length=None)
    for (cca, place), part in table.group_by("cca", "place", maintain_order=True):
        about = f"{stored.label(str(cca))}, at the {place}"
        yield {"name": f"{about}: throughput", "value": _mean(part["mean_mbps"]), "unit": "Mb/s"}
        yield {"name": f"{about}: median of the first second", "value": _mean(part["median_mbps"]), "unit": "Mb/s"}
        early = int((part["exit_class"] == "early").sum())
        yield {"name": f"{about}: exits early", "value": early, "unit": f"of {part.height} trials"}


def _of_trial(trial: Trial) -> Iterator[Mapping[str, object]]:
    left = first_exit(trial.exits, FLOW)
    bitrate = left.bitrate_mbps(trial.meta["mss_bytes"]) if left else None
    for place, table in (("client", throughput(trial.packets, FLOW)), ("server", at_server(trial))):
        median_mbps = median_first_second_mbps(table)
        found = by_bitrate(left, bitrate, median_mbps, None)
        about = {"cca": trial.cca, "place": place, "median_mbps": median_mbps, "exit_class": found and str(found)}
        yield about | {"mean_mbps": mean_sd(table["throughput_mbps"])[0]}


def fewer_acks(stored: Stored) -> Iterator[Figure]:
    """Give where SEARCH 2.0 would leave with fewer ACKs, over the downloads without HyStart."""
    kernel = find()
    if kernel is None:
        raise UserError("no kernel is built: lab kernel build")
    form = version(kernel.replay_library, "search2")
    found = downloads(stored)
    for kept in KEPT:
        exits = [(one, exit_of(kernel.replay_library, _thinned(one, kept), form)) for one in found]
        classes = [class_of(one, left, "heuristic") for one, left in exits]
        exit_ms = mean_sd([left.t_s * 1e3 for _, left in exits if left])[0]
        about = f"SEARCH 2.0, one ACK of {kept}"
        yield {"name": f"{about}: exit", "value": exit_ms and round(exit_ms, 1), "unit": "ms"}
        for name in ("early", "chokepoint", "late"):
            yield {"name": f"{about}: {name}", "value": classes.count(name), "unit": f"of {len(found)} downloads"}


def _thinned(one: Download, kept: int) -> Download:
    columns = ("t_us", "rtt_us", "delivered_bytes", "sent_bytes", "cwnd_pkts")
    return replace(one, **{name: getattr(one, name)[kept - 1 :: kept] for name in columns})


def _mean(column: pl.Series) -> float | None:
    mean = mean_sd(column)[0]
    return None if mean is None else round(mean, 1)


def stored_run(trials: int) -> Stored:
    """Return the newest run of the scenario; run it where none is stored."""
    argv = [sys.executable, "-m", "lab", "run", SCENARIO, "--trials", str(trials), "--no-pcap"]
    found = first_stored(paths.results(), [SCENARIO])
    if found is None and (status := subprocess.run(argv, check=False).returncode):
        raise UserError(f"lab run {SCENARIO}: status={status}: must be 0")
    found = found or first_stored(paths.results(), [SCENARIO])
    if found is None:
        raise UserError(f"lab run {SCENARIO}: trials: must have a result")
    return found


def main(trials: int = TRIALS) -> None:
    """Run, measure and store."""
    stored = stored_run(trials)
    show_and_store("wifi-place", "python -m bench.wifi_place", [*places(stored), *fewer_acks(stored)])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
