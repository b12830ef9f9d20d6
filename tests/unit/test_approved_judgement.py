# SPDX-License-Identifier: GPL-2.0-or-later
"""What is found in downloads over links of every kind is what was read and approved: by each rule, and in sums.

A second download runs in each trial: nothing of it may count.
"""

import json
from pathlib import Path

import polars as pl
import polars.selectors as cs
import pytest

from lab.judge.digest import digest
from lab.judge.judged import judged
from lab.judge.representative import representatives
from lab.judge.slow_start import first_exit
from lab.judge.slow_start_rtt import averaged
from lab.judge.stored import Stored
from lab.judge.summary import summarise
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from tests import slow_start_model as model
from tests.approved import approved
from tests.stored_run import LINK, rewrite, sign, store_run

LINKS = {
    "deep": LINK,
    "shallow": model.Path(rate_mbps=20, base_rtt_ms=100, buffer_bytes=60_000, duration_s=3),
    "short": model.Path(rate_mbps=50, base_rtt_ms=400, buffer_bytes=5_000_000, duration_s=1.5),
    "near": model.Path(rate_mbps=30, base_rtt_ms=12, buffer_bytes=150_000, duration_s=2),
    "slow": model.Path(rate_mbps=1, base_rtt_ms=300, buffer_bytes=200_000, duration_s=6),
}
SENDERS = ("search", "cubic", "cubic_plain", "bbr")
OF_FLOWS = ("packets", "acks", "exits")
OF_A_RULE = ("exit_class", "capacity_s", "median_mbps")
PCT = [f"{each}{end}_pct" for each in ("early", "chokepoint", "late") for end in ("", "_lo", "_hi")]
CAPACITY = ("capacity_s", "capacity_s_sd", "capacity_trials", "capacity_from_data_s", "capacity_from_data_s_sd")
SUMS_OF_A_RULE = ("judged", *PCT, *CAPACITY)
SIZES = (1, 2, 5, 10, 50, 200)  # of 100 kB


def with_second_download(trial: Path) -> None:
    """Add a second download, a little earlier than the first."""
    for name in OF_FLOWS:
        file = trial / f"{name}.parquet"
        table = pl.read_parquet(file)
        other = table.with_columns(flow=pl.lit(2, pl.UInt8), t_s=pl.col("t_s") * 0.7)
        pl.concat([table, other]).sort("t_s", maintain_order=True).write_parquet(file)
    sign(trial / "trial.json")


def half_as_fast_from(trial: Path, at_s: float) -> None:
    """State that the link lost half of its rate at a time."""
    file = trial / "link.parquet"
    table = pl.read_parquet(file)
    rates = table.filter(quantity="down.rate_mbps")
    later = rates.with_columns(t_s=pl.lit(at_s), value=pl.col("value") / 2)
    pl.concat([table, later]).write_parquet(file)
    sign(file)


def without_a_drop(trial: Path) -> None:
    """State that the queue dropped nothing, whatever was lost."""
    file = trial / "qdisc.parquet"
    pl.read_parquet(file).with_columns(drops_pkts=pl.lit(0, pl.Int64)).write_parquet(file)
    sign(file)


def begins_late_and_ends_early(trial: Path) -> None:
    """State when a download's data began and ended: what waits before and afterwards is not its own."""
    file = trial / "trial.json"
    meta = json.loads(file.read_text())
    first = meta["flows"][0] | {"data_s": 0.8, "end_s": 1.2}
    rewrite(file, meta | {"flows": [first]})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Stored]:
    results = tmp_path_factory.mktemp("results")
    found = {}
    for name, link in LINKS.items():
        run = store_run(results, 2, name=name, link=link, senders=SENDERS)
        for trial in run.glob("trials/*"):
            with_second_download(trial)
        half_as_fast_from(run / "trials" / "cubic_plain-002", 1.0)
        begins_late_and_ends_early(run / "trials" / "search-002")
        without_a_drop(run / "trials" / "cubic_plain-001")
        opened = Run(run)
        found[name] = Stored(name, opened, judged(opened, workers=1))
    return found


def as_text(table: pl.DataFrame, *by_rule: str) -> str:
    """Write a row per trial or sender: what a rule finds has a column per rule, and everything else is once there."""
    if by_rule:
        once = [name for name in table.columns if name not in (*by_rule, "heuristic")]
        table = table.pivot("heuristic", index=once, values=by_rule)
    return table.with_columns(cs.float().round_sig_figs(6)).write_csv()


def rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def test_the_outcome_of_each_trial_by_each_rule_is_the_approved_one(runs: dict[str, Stored]) -> None:
    rows = [each.judged.outcomes.select(pl.lit(name).alias("link"), pl.all()) for name, each in runs.items()]
    text = as_text(pl.concat(rows), *OF_A_RULE)
    assert text == approved("judgement-outcomes.csv", text)


def test_the_numbers_of_each_trial_are_the_approved_ones(runs: dict[str, Stored]) -> None:
    rows = []
    for name, each in runs.items():
        for trial in each.run.trials:
            found, left = digest(Trial(trial.path)), first_exit(Trial(trial.path).exits)
            times = [rounded(found["download_s"][size - 1]) for size in SIZES]
            numbers = [rounded(found[key]) for key in ("initial_rtt_ms", "max_rtt_ms", "wait_ms")]
            rows.append(f"{name}: {trial.path.name}: {numbers} {times} {left}")
    text = "\n".join(rows) + "\n"
    assert text == approved("judgement-numbers.txt", text)


def test_the_sums_of_each_run_are_the_approved_ones(runs: dict[str, Stored]) -> None:
    text = ""
    for name, each in runs.items():
        summary = summarise(each.judged.outcomes, [str(stanza["name"]) for stanza in each.ccas])
        full_s = {
            (row["cca"], row["trial"]): row["capacity_s"]
            for row in each.judged.outcomes.filter(heuristic="truth").iter_rows(named=True)
            if row["cca"] != "bbr"
        }
        steps = averaged(each.run.trials, full_s, 0.1)
        text += f"# {name}: {each.link}; shown: {sorted(representatives(each.judged.outcomes).items())}\n"
        text += as_text(summary, *SUMS_OF_A_RULE) + as_text(steps.gather_every(5))
    assert text == approved("judgement-sums.txt", text)
