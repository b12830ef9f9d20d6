# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of many trials are those that were read and approved, in more digits than a page shows."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ack_logs
import numpy as np
import polars as pl
import polars.selectors as cs
import pytest
from ack_logs import Gateway, download, text, written
from lab_compare.ranks import pairs, places
from lab_compare.results import ranked_by
from lab_papers.evaluation.competing_flows import flows
from lab_papers.evaluation.recorded.bands import bands, inside, marks, rms_s
from lab_papers.evaluation.recorded.comparison import compare_recorded
from lab_papers.evaluation.recorded.download import Download, emulated, recorded
from lab_papers.evaluation.recorded.gateway_drop import first_loss, gateway_drop, in_truth
from lab_papers.evaluation.recorded.rate import rate
from lab_papers.evaluation.recorded.tables import sheets
from lab_papers.evaluation.write import write_all

from lab.evaluation.measures import values
from lab.evaluation.sequential import Looks, holm, hopeless, level, looks, one_look, rejects
from lab.evaluation.short_flows import costs, short_flows
from lab.judge.stored import Stored
from lab.report.write import write_report
from lab.schema.scenario import load_scenario
from lab.tables.stored_run import Run
from lab.traces import importers
from tests.approved import approved
from tests.compared import example, store
from tests.stored_run import change, rewrite, sign, store_run, with_extent

GATEWAYS = {
    "usual": Gateway(threshold_bytes=500_000, duration_s=12),
    "early": Gateway(threshold_bytes=300_000, rtt_ms=300, duration_s=8),
    "slow": Gateway(rate_mbps=2, threshold_bytes=1e9, duration_s=12),
}
FROM_S = 4.0  # the downloads are shorter than those that a rate is taken of
STEPS = 40  # of a band: each such one is read
SENDERS = ("search", "cubic", "cubic_plain", "bbr")


def short(value: Any) -> Any:
    """A value in six digits, whatever it is in."""
    if isinstance(value, float | np.floating):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: short(each) for key, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [short(each) for each in value]
    if hasattr(value, "__dataclass_fields__"):
        return f"{type(value).__name__} {[short(getattr(value, name)) for name in value.__dataclass_fields__]}"
    return value


def assert_approved(name: str, lines: Sequence[str]) -> None:
    found = "\n".join(lines) + "\n"
    assert found == approved(name, found)


def summed(one: Download) -> list[str]:
    curves = [one.acked_bytes, one.inflight_bytes, one.rtt_ms, one.delivered_bytes, one.lost_pkts]
    means = [float(np.nanmean(curve)) if not np.isnan(curve).all() else None for curve in curves]
    times = [one.min_rtt_ms, one.slow_start_end_s, one.loss_s, one.start_s, one.ip_share]
    lines: dict[str, object] = {
        "curves": means,
        "times": times,
        "first loss": first_loss(one),
        "gateway": gateway_drop(one),
    }
    lines["rate"] = rate(one, FROM_S)
    return [f"{one.name}: {part}: {short(found)}" for part, found in lines.items()]


def test_the_figures_of_recorded_downloads_are_the_approved_ones(tmp_path: Path) -> None:
    logs: dict[str, Download] = {}
    for name, link in GATEWAYS.items():
        acks = ack_logs.download(link).acks
        for form in ack_logs.FORMS:
            file = written(tmp_path, text(acks, form), f"{name} {form}.csv".replace(" ", "-"))
            logs[f"{name}, {form}"] = recorded(importers.read(file), f"{name}, {form}")
    lines = [line for one in logs.values() for line in summed(one)]
    run = Run(store_run(tmp_path, 3, senders=("cubic_plain", "bbr")))
    trials = [one for trial in run.trials if (one := emulated(trial)) is not None]
    lines += [line for one in trials for line in summed(one)]
    lines += [f"{trial.path.name}: in truth: {short(in_truth(trial.qdisc))}" for trial in run.trials]
    for name, found in bands(trials).items():
        edges = [curve[::STEPS] for curve in (found.low, found.middle, found.high)]
        lines.append(f"band of {name}: until {short(found.end_s)}: {short(edges)}")
    lines += [f"inside: {name}: {short(inside(one, bands(trials)))}" for name, one in logs.items()]
    ours, theirs = marks(trials), marks(list(logs.values()))
    lines += [str(short(row)) for row in (*ours.to_dicts(), *theirs.to_dicts())]
    lines.append(f"rms: {short(rms_s(ours, theirs))}")
    assert_approved("recorded-figures.txt", lines)


def differences(seed: int, count: int, shift: float, binary: bool) -> list[float | None]:
    """Differences of a pair, of which every seventh has no value."""
    drawn = (
        np.random.default_rng(seed).integers(-1, 2, count) if binary else np.random.default_rng(seed).normal(size=count)
    )
    moved = np.clip(np.round(drawn + shift), -1, 1) if binary else np.round(drawn + shift, 3)
    return [None if place % 7 == 6 else float(value) for place, value in enumerate(moved)]


def test_the_looks_and_levels_of_pairs_are_the_approved_ones() -> None:
    lines = []
    for most, number, binary in ((3, 1, False), (12, 1, False), (12, 6, True), (30, 28, False), (31, 3, True)):
        plan: Looks = looks(most, number)
        lines.append(f"{most} trials, {number} pairs, binary={binary}: {plan.trials}, {short(plan.spent)}")
        for seed, shift in enumerate((0.0, 0.6, 1.2, 3.0)):
            for count in (most // 2, most):
                found = differences(seed, count, shift, binary)
                lines.append(
                    f"  shifted by {shift}, {count} trials: {short(level(found, plan))} "
                    f"{rejects(found, plan)} {hopeless(found, plan, binary)}"
                )
    lines.append(f"one look: {one_look(7)}")
    lines += [f"holm of {each}: {holm(each)}" for each in ([0.01, 0.04, 0.03], [0.001, 0.01, 0.02], [0.06], [])]
    assert_approved("pairs.txt", lines)


def test_the_ranks_of_four_senders_are_the_approved_ones() -> None:
    by_sender = {
        name: [None if value is None else value + 10 for value in differences(seed, 14, shift, binary=False)]
        for seed, (name, shift) in enumerate((("a", 0.0), ("b", 0.1), ("c", 3.0), ("d", 9.0)))
    }
    plan = looks(14, 6)
    lines = []
    for attempted in (None, 11):
        tested = pairs(by_sender, plan, binary=False, attempted=attempted)
        lines += [short(pair) for pair in tested]
        lines += [f"{more}: {short(places(list(by_sender), tested, more))}" for more in (True, False)]
    assert_approved("ranks.txt", lines)


def test_the_measures_of_a_run_are_the_approved_ones(tmp_path: Path) -> None:
    run = store_run(tmp_path, 3, senders=SENDERS)
    change(run, scenario={"heuristic": "median_throughput_after"}, seeds=[1, 2, 3, 4])
    lines = [f"{name}: {short(found)}" for name, found in values(Stored.of(Run(run))).items()]
    assert_approved("measures.txt", lines)


@pytest.fixture
def two_downloads(tmp_path: Path) -> Stored:
    """A run next to a rival that CUBIC meets too; its third trial of BBR is invalid."""
    run = store_run(tmp_path, 3, senders=("cubic", "bbr"))
    for number, file in enumerate(sorted(run.glob("trials/*/trial.json"))):
        meta = json.loads(file.read_text())
        first = meta["flows"][0] | {"retransmits_pkts": 4}
        rival = with_extent(first, flow=2, cca="cubic", throughput_mbps=2.0 + number, retransmits_pkts=3 * number)
        rewrite(file, meta | {"flows": [first, rival]})
        acks = file.with_name("acks.parquet")
        table = pl.read_parquet(acks)
        slower = table.with_columns(flow=pl.lit(2, pl.UInt8), srtt_ms=pl.col("srtt_ms") * 1.5)
        pl.concat([table, slower]).write_parquet(acks)
        sign(acks)
    change(run, scenario={"rival": "cubic"}, seeds=[1, 2, 3])
    return Stored.of(Run(run))


def test_two_downloads_at_a_time_are_compared_as_approved(two_downloads: Stored) -> None:
    table = flows(two_downloads).with_columns(cs.float().round_sig_figs(6)).write_csv()
    harm = [f"{name}: {short(found)}" for name, found in values(two_downloads, ranked_by(two_downloads)).items()]
    assert_approved("two-downloads.txt", [*table.splitlines(), *harm])


def test_what_exits_cost_a_workload_is_as_approved(tmp_path: Path) -> None:
    run = store_run(tmp_path, 3, senders=SENDERS)
    for number, file in enumerate(sorted(run.glob("trials/*/trial.json"))):
        objects: list[dict[str, Any]] = [
            {
                "exchange": each,
                "group": each // 2,
                "bytes": 1000,
                "requested_s": 0.5 * each,
                "whole_s": each + number / 8,
            }
            for each in range(1, 5)
        ]
        objects[-1]["whole_s"] = None if number == 4 else objects[-1]["whole_s"]
        spent = {"stalled_s": 0.1 * number, "busy_s": 1.0, "rwnd_limited_s": 0.0, "sndbuf_limited_s": 0.0}
        workload = {"objects": objects, "limited": [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], **spent}
        rewrite(file, json.loads(file.read_text()) | {"workload": workload})
    change(run, scenario={"workload": {"kind": "requests"}}, seeds=[1, 2, 3])
    judged = short_flows(Stored.of(Run(run)))
    lines = [short(flow) for flow in judged]
    for cost in costs(judged, SENDERS, 3):
        counts = (cost.left, cost.early, cost.limited, cost.unfinished)
        lines.append(f"{counts} {short(replace(cost, flows=()))}")
    assert_approved("short-flows.txt", lines)


REPORT = ("summary.csv", "outcomes.csv")
COMPARED = ("ranks.csv", "trials.csv")
EVALUATED = ("heuristics", "heuristics_constants", "heuristics_trials", "means", "outcomes", "paired", "versions")
CLAIMING = "thesis-geo"  # a scenario with claims of a paper
OF_A_GRID = 10  # one row of so many of a table of a whole grid is read


def assert_all_approved(found: dict[str, str]) -> None:
    """Compare all texts that are made together in one test."""
    expected = {name: approved(name, text) for name, text in found.items()}
    assert {name: text for name, text in found.items() if text != expected[name]} == {}


def as_text(table: pl.DataFrame) -> str:
    """A table in digits that no other order of summation changes."""
    return table.with_columns(cs.float().round_sig_figs(6)).write_csv()


def test_a_runs_tables_are_the_approved_ones(tmp_path: Path, library: Path) -> None:
    run = store_run(tmp_path, library=library)
    write_report(run)
    assert_all_approved({f"report-{file}": (run / file).read_text() for file in REPORT})


def test_results_are_evaluated_as_approved(tmp_path: Path, library: Path) -> None:
    run = store_run(tmp_path, 5, library, CLAIMING, latest=True)
    scenario = load_scenario(CLAIMING)[1].model_dump(mode="json")
    change(run, scenario={part: scenario[part] for part in ("claims", "tolerance", "heuristic")})
    folder = write_all(tmp_path, library)[0]
    tables = {name: pl.read_parquet(folder / f"{name}.parquet") for name in (*EVALUATED, "sensitivity", "claims")}
    tables["sensitivity"] = tables["sensitivity"].gather_every(OF_A_GRID)
    tables["claims"] = tables["claims"].filter(scenario=CLAIMING)
    assert_all_approved({f"evaluation-{name}.csv": as_text(table) for name, table in tables.items()})


def test_recorded_and_emulated_downloads_are_compared_as_approved(tmp_path: Path) -> None:
    run = store_run(tmp_path, 5, name="geo-recorded", latest=True)
    gateways = {"early": Gateway(threshold_bytes=300_000), "late": Gateway(rtt_ms=300, duration_s=6)}
    logs = []
    for name, gateway in gateways.items():
        (tmp_path / name).mkdir()
        logs.append(str(written(tmp_path / name, text(download(gateway).acks))))
    shown = sheets(compare_recorded(run, logs))
    lines = [line for each in shown for line in (each.title, *map(" | ".join, (each.header, *each.rows)), each.note)]
    assert_all_approved({"recorded.txt": "\n".join(lines).replace(str(tmp_path), "RESULTS") + "\n"})


def test_senders_are_compared_as_approved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["lab", "compare"])
    folder = example(*store(tmp_path, 5))[0]
    assert_all_approved({f"compare-{file}": (folder / file).read_text() for file in COMPARED})
