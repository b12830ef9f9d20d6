# SPDX-License-Identifier: GPL-2.0-or-later
"""How SEARCH's versions fare, as published and mended, on links of every kind: what `search` stands for is argued so.

Whole trials in the kernel, each form on the same drawn links. An exit is judged by the truth that an emulator has: the
bottleneck's queue (lab/heuristics/truth.py), and the losses at the client. `python -m lab.bench_versions` runs what is
missing of results/bench/versions/, and prints and stores the tables; --trials, --links and --forms choose.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from rich.console import Console
from rich.table import Table

from lab import paths
from lab.kernel import build
from lab.kernel.build import Kernel
from lab.plan import Experiment
from lab.pool import run_all
from lab.report.outcome import outcome
from lab.schema.cca import Cca, load_ccas
from lab.schema.profile import Profile, load_profile
from lab.schema.scenario import Scenario
from lab.schema.topology import load_topology
from lab.store.trial import Trial
from lab.trial import Job
from lab.world import image

MENDED = {"long_rtt": 5, "missed_bins_max": 10, "restart_rtt_pct": 50, "app_limited": 3}
TRIALS, SEED = 3, 2024
DEEP, DEEP_BDPS = (
    "wired-clean-deep",
    8.0,
)  # wired-clean with a buffer that holds more than SEARCH needs to see a plateau
DURATIONS_S = {  # of a download over a profile: it has long left slow start by then
    DEEP: 5,
    "leo-starlink": 8,
    "leo-starlink-15s": 8,
    "lte-tmobile": 10,
    "lte-verizon": 10,
    "wifi-strong": 4,
    "wifi-office": 8,
    "geo-klm": 30,
    "geo-viasat": 30,
}


@dataclass(frozen=True)
class Form:
    """A version with parameters that differ from its published ones."""

    version: str
    params: dict[str, int] = field(default_factory=dict)

    def cca(self, name: str) -> Cca:
        return load_ccas()[self.version].model_copy(update={"name": name, "params": self.params})


VERSIONS = ("search1", "search2", "search31", "search4")
FORMS = (
    {version: Form(version) for version in VERSIONS}
    | {f"{version}-mended": Form(version, MENDED) for version in VERSIONS}
    | {f"search2-{name}": Form("search2", {name: value}) for name, value in MENDED.items()}
    | {
        "search2-rollback": Form("search2", {"on_exit": 1}),
        "search4-no-drain": Form("search4", {"on_exit": 0}),
        "search4-26": Form("search4", {"threshold_pct": 26}),
    }
)
ROW = {  # of a form on a link, from its trials
    "valid": pl.col("valid").sum(),
    "early": (pl.col("exit_class") == "early").sum(),
    "timely": (pl.col("exit_class") == "chokepoint").sum(),
    "late": (pl.col("exit_class") == "late").sum(),
    "capacity_s": pl.col("capacity_s").median(),
    "exit_s": pl.col("exit_s").median(),
    "after_rtts": ((pl.col("exit_s") - pl.col("capacity_s")) * 1e3 / pl.col("base_rtt_ms")).median(),
    "throughput_mbps": pl.col("throughput_mbps").mean(),
    "retransmits_pkts": pl.col("retransmits_pkts").mean(),
    "queue_ms": pl.col("queue_ms").mean(),
}


def profile_of(link: str) -> Profile:
    if link != DEEP:
        return load_profile(link, "command line")
    clean = load_profile("wired-clean", DEEP)
    return clean.model_copy(update={"down": clean.down.model_copy(update={"buffer_bdps": DEEP_BDPS})})


def jobs(forms: list[str], links: list[str], trials: int, folder: Path, kernel: Kernel, world: Path) -> list[Job]:
    """Word every trial."""
    found = []
    for link in links:
        scenario = Scenario(
            question="Which form of SEARCH leaves slow start at the right moment?",
            topology="path",
            profile=link,
            ccas=forms,
            trials=trials,
            duration_s=DURATIONS_S[link],
            seed=SEED,
        )
        profile, topology = profile_of(link), load_topology("path", "command line")
        experiment = Experiment(
            "versions", scenario, profile, topology, {name: FORMS[name].cca(name) for name in forms}
        )
        for number in range(1, trials + 1):
            found += [
                Job(experiment, name, number, folder / link / f"{name}-{number}", kernel, world) for name in forms
            ]
    return found


def row(trial: Trial, link: str) -> dict[str, object]:
    """Judge a trial by the queue; `queue_ms` is how long what waits at the bottleneck takes to leave, on average."""
    (seen,) = (seen for seen in outcome(trial) if seen["heuristic"] == "truth")
    backlog_bytes = trial.qdisc["backlog_bytes"].mean()
    queue_ms = backlog_bytes * 8e-3 / trial.meta["rate_mbps"] if isinstance(backlog_bytes, float) else None
    return {"link": link, "base_rtt_ms": trial.meta["base_rtt_ms"], "queue_ms": queue_ms} | seen


def by_link(rows: pl.DataFrame) -> pl.DataFrame:
    """Put a form's trials on a link into one row."""
    return rows.group_by("link", "cca", maintain_order=True).agg(**ROW)


def over_links(table: pl.DataFrame) -> pl.DataFrame:
    """Put a form's links into one row; throughput and losses as a share of search2's on the same link."""
    base = table.filter(cca="search2").select("link", base_mbps="throughput_mbps", base_pkts="retransmits_pkts")
    shares = table.join(base, on="link").with_columns(
        throughput_pct=100 * pl.col("throughput_mbps") / pl.col("base_mbps"),
        more_retransmits_pkts=pl.col("retransmits_pkts") - pl.col("base_pkts"),
    )
    counted = ("valid", "early", "timely", "late")
    meant = ("after_rtts", "throughput_pct", "more_retransmits_pkts", "queue_ms")
    return shares.group_by("cca", maintain_order=True).agg(pl.col(*counted).sum(), pl.col(*meant).mean())


def shown(table: pl.DataFrame, title: str) -> Table:
    """Word a table for the terminal."""
    words = Table(*table.columns, title=title)
    for values in table.iter_rows():
        words.add_row(*("" if v is None else f"{v:.2f}" if isinstance(v, float) else str(v) for v in values))
    return words


def measure(
    trials: Annotated[int, typer.Option(min=1, help="Trials of each form on each link.")] = TRIALS,
    links: Annotated[str, typer.Option(help="Profiles, by commas.")] = ",".join(DURATIONS_S),
    forms: Annotated[str, typer.Option(help="Forms, by commas.")] = ",".join(FORMS),
) -> None:
    """Run what is missing, and print and store the tables."""
    folder = paths.results() / "bench" / "versions"
    kernel, world = build.ensure(), image.ensure("world").root
    wanted = jobs(forms.split(","), links.split(","), trials, folder, kernel, world)
    console = Console(width=160)
    missing = [job for job in wanted if not (job.folder / "trial.json").exists()]
    for done, (job, result) in enumerate(run_all(missing, len(os.sched_getaffinity(0))), 1):
        console.print(
            f"{done}/{len(missing)} {job.folder.parent.name}/{job.folder.name}",
            result if isinstance(result, str) else "",
        )
    rows = pl.DataFrame([row(Trial(job.folder), job.folder.parent.name) for job in wanted], infer_schema_length=None)
    rows.write_csv(folder / "trials.csv")
    table = by_link(rows)
    for link in links.split(","):
        console.print(shown(table.filter(link=link).drop("link"), link))
    console.print(shown(over_links(table), "all links; throughput and retransmissions beside search2's"))


if __name__ == "__main__":
    typer.run(measure)
