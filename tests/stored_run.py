# SPDX-License-Identifier: GPL-2.0-or-later
"""A small run as the lab stores it, made of modelled downloads: for tests of what reads stored runs."""

import io
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from lab_papers.search_replay import replay

from lab.judge.ack_stream import ack_stream
from lab.runs.plan import MSS_BYTES
from lab.schema.cca import load_ccas
from lab.tables.digests import write_digests, write_with_digest
from lab.tables.records import rivals_of
from lab.tables.run_json import RunJson
from lab.tables.stored_trial import FORMAT
from lab.tables.trial_json import Check, FlowJson, TrialJson
from tests import slow_start_model as model

LINK = model.Path(rate_mbps=8, base_rtt_ms=200, buffer_bytes=600_000, duration_s=4)
SENDERS = {
    "search": {"exit_cwnd_pkts": 300, "cause": "search"},
    "cubic": {"exit_cwnd_pkts": 40, "cause": "hystart"},
    "cubic_plain": {},
    "bbr": {"exit_cwnd_pkts": 290, "cause": "bbr"},
}
LISTS = {
    "recorded": ["ACK frames of 40 ms"],
    "published": ["144 Mb/s (thesis, section 5.1.1)"],
    "assumed": ["tail drop"],
}
LEVELS = {
    "model": "levels",
    "period_s": 1.7,
    "mean": 70,
    "ln_sd": 1.15,
    "between_ln_sd": 0.6,
    "most": 144,
    "source": "IPCCC 2022",
}
TOLERANCE = {"share_points": 10.0, "relative_pct": 10.0}  # where there are claims
PUBLISHED = [
    {"cca": "search", "source": "thesis, tables 5.1 & 5.3", "early_pct": 3.9, "chokepoint_pct": 93.5, "late_pct": 2.6}
    | {"capacity_s": 11.8, "capacity_s_sd": 2.6, "loss_s": 22.9, "loss_s_sd": 8.7, "exit_s": 13.7, "exit_s_sd": 1.7},
    {"cca": "cubic", "source": "thesis, table 5.3", "early_pct": 100, "chokepoint_pct": 0, "late_pct": 0},
]


def store_run(
    folder: Path,
    trials: int = 3,
    library: Path | None = None,
    name: str = "geo",
    link: model.Path = LINK,
    senders: tuple[str, ...] = tuple(SENDERS),
    latest: bool = False,
) -> Path:
    """Store a run of `trials` per sender below `folder`, as the latest if so; the last trial of bbr is invalid."""
    run = folder / name / "20260101T000000Z"
    for cca in senders:
        for number in range(1, trials + 1):
            path = model.Path(**{**asdict(link), **SENDERS[cca], "base_rtt_ms": link.base_rtt_ms + number})
            valid = (cca, number) != ("bbr", trials)
            _store_trial(run / "trials" / f"{cca}-{number:03d}", cca, number, path, valid, library)
    rewrite(run / "run.json", {**run_json(senders), "seeds": list(range(1, max(trials, 3) + 1))})
    if latest:
        (run.parent / "latest").symlink_to(run.name)
    return run


def rewrite(file: Path, content: object) -> None:
    """Write run.json or trial.json with its digest, as the lab does."""
    file.write_text(json.dumps(content))
    sign(file)


def change(run: Path, **parts: Any) -> None:
    """Change parts of a run's run.json: fields of some parts, others whole; as many seeds as trials.

    The trials follow the scenario where they state what it does.
    """
    meta = json.loads((run / "run.json").read_text())
    changed = {name: meta[name] | part if isinstance(part, dict) else part for name, part in parts.items()}
    trials = parts.get("scenario", {}).get("trials")
    if isinstance(trials, int) and trials < 100:
        changed = {"seeds": list(range(1, trials + 1))} | changed
    rewrite(run / "run.json", meta | changed)
    scenario = parts.get("scenario", {})
    own = {name: value for name, value in scenario.items() if name in ("profile", "duration_s")}
    has_rivals = "rival" in scenario or any(0 < each.get("count", 0) < 100 for each in scenario.get("rivals", ()))
    for file in run.glob("trials/*/trial.json") if own or has_rivals else ():
        trial = json.loads(file.read_text())
        first, *others = trial["flows"]
        if has_rivals:
            senders = rivals_of(scenario)
            kept = [*others, *[first] * len(senders)][: len(senders)]
            others = [flow | {"flow": 2 + at, "cca": senders[at]} for at, flow in enumerate(kept)]
        rewrite(file, trial | own | {"flows": [first, *others]})


def sign(file: Path) -> None:
    """Store the digest of what a file holds, as whoever edits a file can."""
    if file.name == "run.json":
        write_with_digest(file, file.read_bytes())
    else:
        write_digests(file.parent)


def _store_trial(folder: Path, cca: str, number: int, path: model.Path, valid: bool, library: Path | None) -> None:
    folder.mkdir(parents=True)
    tables, drops_pkts = _modelled(path)
    for name, content in _files(path).items():
        (folder / name).write_bytes(content)
    if cca == "search" and library is not None:
        _bins(library, tables).write_parquet(folder / "bins.parquet")
    rewrite(folder / "trial.json", _trial(cca, number, path, valid, drops_pkts))


@cache
def _modelled(path: model.Path) -> tuple[dict[str, pl.DataFrame], int]:
    """Model a download once per process; its tables, and how many packets were dropped."""
    download = model.download(path)
    return download.tables(), len(download.drops_s)


@cache
def _files(path: model.Path) -> dict[str, bytes]:
    """Return the files of a modelled download's tables: many trials of the tests are the same download."""
    files = {}
    for name, table in _modelled(path)[0].items():
        content = io.BytesIO()
        table.write_parquet(content)
        files[f"{name}.parquet"] = content.getvalue()
    return files


def _bins(library: Path, tables: dict[str, pl.DataFrame]) -> pl.DataFrame:
    reported = ack_stream(tables["acks"])
    bins = replay(library, reported["t_us"], reported["rtt_us"], reported["delivered_bytes"], stop_at_exit=False)
    left = bins.filter(pl.col("t_s") <= tables["exits"]["t_s"].max())
    return left.with_columns(flow=pl.lit(1, pl.UInt8), cwnd_pkts=pl.lit(10, pl.UInt32), ssthresh_pkts=None).select(
        *model.BINS
    )


def _trial(cca: str, number: int, path: model.Path, valid: bool, drops_pkts: int) -> TrialJson:
    check: Check = {
        "name": "capture drops",
        "asked": 0,
        "got": 0 if valid else 7,
        "unit": "packets",
        "tolerance": 0,
        "ok": valid,
    }
    return {
        "format": FORMAT,
        "cca": cca,
        "trial": number,
        "seed": number,
        "scenario": "geo",
        "profile": "geo",
        "duration_s": round(path.duration_s),
        "base_rtt_ms": path.base_rtt_ms,
        "rate_mbps": path.rate_mbps,
        "buffer_bytes": path.buffer_bytes,
        "mss_bytes": MSS_BYTES,
        "flows": [_flow(cca, path, 5.0 + number, drops_pkts)],
        "certificate": {"valid": valid, "checks": [check]},
        "applied": [],
        "probes": [],
        "counters": {"interfaces": {}, "tcp": {}},
        "capture": {"received_pkts": 10_000, "dropped_pkts": 0},
        "changes": [],
        "kernel": "a model",
        "backend": "virtual",
        "engine": "netns",
        "shaper": "replay",
    }


def _flow(cca: str, path: model.Path, throughput_mbps: float, drops_pkts: int) -> FlowJson:
    flow: Any = {"flow": 1, "cca": cca, "parameters": {}, "iperf3": {}, "retransmits_pkts": drops_pkts}
    return with_extent(flow, throughput_mbps=throughput_mbps, data_s=0.0, end_s=path.duration_s)


def with_extent(flow: FlowJson, /, **changes: Any) -> FlowJson:
    """Return a flow with other times or another throughput, and the seconds and bytes that follow."""
    found: FlowJson = flow | changes  # type: ignore[assignment]
    found["seconds"] = found["end_s"] - found["data_s"]
    found["bytes"] = round(found["throughput_mbps"] * 1e6 / 8 * found["seconds"])
    return found


def run_json(senders: tuple[str, ...]) -> RunJson:
    scenario = {
        "question": "Who leaves <slow start> at 100 % of the right_moment?",
        "ccas": list(senders),
        "profile": "geo",
    }
    stanzas = load_ccas()
    return {
        "format": FORMAT,
        "complete": True,
        "name": "geo",
        "scenario": scenario | {"published": PUBLISHED},
        "profile": {"title": "A link in theory", **LISTS, "down": {"rate_mbps": LEVELS}},
        "ccas": [stanzas[name].model_dump() for name in senders],
        "shaper": "replay",
        "topology": {"name": "path"},
        "sysctls": {"ends": {}, "kernel": {}, "route": {}},
        "digests": {},
        "seeds": [1, 2, 3],
        "command": ["lab", "run", "geo"],
        "lab_version": "0",
        "backend": "virtual",
        "engine": "netns",
        "kernel": {"kernel_source": "Linux 6.12.48", "kernel_digest": "k", "modules_digest": "m"},
        "world": {"digest": "w", "packages": {"iperf3": "3.18"}, "drifted": {}},
        "host": {"machine": "x86_64", "system": "Linux", "python": "3.11", "processor": "a model", "cores": 2},
    }
