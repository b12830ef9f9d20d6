# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans, first links and judgements are what was read and approved."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import polars as pl
import polars.selectors as cs
import pytest
from lab_compare.link_kinds import links
from pydantic import BaseModel

from lab.base.named_files import profile_files
from lab.judge.digest import digest as numbers_of
from lab.judge.judged import judged
from lab.judge.representative import representatives
from lab.judge.slow_start import first_exit
from lab.judge.stored import Stored
from lab.judge.summary import summarise
from lab.links.models import MODELS
from lab.links.recorded import Series
from lab.links.shapes import write_steps
from lab.links.tc_alone import NETEM
from lab.node.plan import Plan
from lab.runs.experiment import Experiment, digest, first_names, load_experiment, specification, trial_part
from lab.runs.plan import draw, make_plan
from lab.schema.cca import load_ccas
from lab.schema.sysctls import load_sysctls
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from tests import slow_start_model as model
from tests.approved import approved, json_in_six_digits
from tests.brief import error_of
from tests.conftest import SMALL, experiment_on
from tests.stored_run import LINK, rewrite, sign, store_run, with_extent

KNOWN = ("link", "shapes", "topology")  # the link is in another approved text, the topology is a file
SENDERS = (
    ("geo", "search"),
    ("geo", "dctcp"),
    ("compete-bbr", "cubic"),
    ("download-wifi", "cubic"),
    ("short-web-geo", "search"),
    ("short-video-wifi", "cubic"),
    ("short-requests-geo", "cubic"),
    ("tcp-quic", "search_quic"),
)
MOST_TEXT = 1000  # of a field: a workload is known by its beginning


def plan_lines(name: str, plan: Plan, known: Plan | None = None) -> list[str]:
    """A plan without its link, one line per field that a known one has otherwise; its settings are its own ones."""
    shown = _shown(plan)
    other = _shown(known) if known else {}
    return [f"{name}: {part}: {shown.get(part)}" for part in {**shown, **other} if shown.get(part) != other.get(part)]


def _shown(plan: Plan) -> dict[str, str]:
    usual = load_sysctls().values()
    own = {
        end: dict(sorted(values.items() - usual[end].items()))  # type: ignore[attr-defined]
        for end, values in plan["sysctls"].items()
    }
    fields = {**plan, "sysctls": own}
    return {part: json_in_six_digits(value)[:MOST_TEXT] for part, value in fields.items() if part not in KNOWN}


def planned(experiment: Experiment, cca: str) -> Plan:
    return make_plan(experiment, experiment.ccas.get(cca) or load_ccas()[cca], draw(experiment, 1))


def test_a_plan_of_each_kind_is_the_approved_one() -> None:
    plans = {f"{name}, {cca}": planned(load_experiment(name), cca) for name, cca in SENDERS}
    small = experiment_on(SMALL, "cubic", "bbr", size_bytes=3_000_000)
    plans["small, by tc alone"] = planned(replace(small, shaper=NETEM), "bbr")
    first = next(iter(plans.values()))
    found = [line for name, plan in plans.items() for line in plan_lines(name, plan, None if plan is first else first)]
    text = "\n".join(found) + "\n"
    assert text == approved("plans.txt", text)


def test_the_links_of_a_comparison_are_the_approved_ones() -> None:
    chosen = {
        "all": links(None),
        "quick": links(None, quick=True),
        "chosen": links(["leo", "wired-clean", "leo-starlink-thesis"], duration_s=9),
        "chosen, quick": links(["geo", "leo-starlink-thesis"], quick=True),
    }
    rows = [f"{name}: {link.topology}, {link.title}: {asdict(link)}" for name, of in chosen.items() for link in of]
    text = "\n".join(rows) + "\n"
    assert text == approved("comparison-links.txt", text)
    assert error_of(links, ["geo", "geo"]) == "command line: links=geo: must be a link that is named once"


def test_the_digest_of_a_specification_is_the_approved_one_or_no_stored_run_would_be_known() -> None:
    claims = [{"cca": "search", "counterfactuals": ["x"], "open": "why"}]
    scenario = {"profile": "geo", "campaign": True, "in_summary": False, "workload": None, "claims": claims}
    sender = {"name": "search", "reports_exit": True, "exit_label": "SEARCH", "depends": [], "transport": "tcp"}
    quic = {**sender, "transport": "quic", "stack": "quiche", "depends": ["tcp_slow_start"]}
    rows = [f"{first_names(part)}: {digest(part)}" for part in (trial_part(scenario), sender, [quic, sender])]
    parts = sorted(specification(experiment_on(SMALL, "search"))["digests"])
    by_tc = sorted(specification(replace(load_experiment("compete-bbr"), shaper=NETEM))["digests"])
    text = "\n".join([*rows, f"of a run: {parts}", f"of two downloads by tc alone: {by_tc}"]) + "\n"
    assert text == approved("specifications.txt", text)


def link_lines(name: str, folder: Path) -> list[str]:
    """The link of a profile's first trial, a line per part."""
    experiment = load_experiment("geo", {"profile": name, "duration_s": 3})
    drawn = draw(experiment, 1)
    plan = make_plan(experiment, experiment.ccas["cubic"], drawn)
    write_steps(experiment.profile, drawn.link, folder)
    link = [f"{name}: {json_in_six_digits(plan['link'])}"]
    shapes = [f"{name}: {json_in_six_digits(shape)}" for shape in plan["shapes"]]
    steps = [f"{name}: {file.name}: {first_and_count(file)}" for file in sorted(folder.iterdir())]
    return link + shapes + steps


def first_and_count(file: Path) -> str:
    rows = file.read_text().splitlines()
    return f"{len(rows)} lines, the first: {rows[0] if rows else 'none'}"


def test_each_profiles_first_link_is_the_approved_one(tmp_path: Path) -> None:
    modelled = [name for name, file in sorted(profile_files().items()) if "dataset: " not in file.read_text()]
    found = [line for name in modelled for line in link_lines(name, tmp_path / name)]
    expected = approved("links.txt", "\n".join(found) + "\n").splitlines()
    known = {line.split(":")[0] for line in expected}  # a new profile waits for its approval
    assert [line for line in found if line.split(":")[0] in known] == expected


def test_what_a_model_does_not_state_is_as_approved() -> None:
    models: dict[str, type[BaseModel]] = {**MODELS, "series": Series}
    defaults = [
        f"{name}: {field}={about.default}"
        for name, model in sorted(models.items())
        for field, about in model.model_fields.items()
        if not about.is_required()
    ]
    text = "\n".join(defaults) + "\n"
    assert text == approved("models.txt", text)


LINKS = {
    "deep": LINK,
    "shallow": model.Path(rate_mbps=20, base_rtt_ms=100, buffer_bytes=60_000, duration_s=3),
    "short": model.Path(rate_mbps=50, base_rtt_ms=400, buffer_bytes=5_000_000, duration_s=1.7),
    "near": model.Path(rate_mbps=30, base_rtt_ms=12, buffer_bytes=150_000, duration_s=2),
    "slow": model.Path(rate_mbps=1, base_rtt_ms=300, buffer_bytes=200_000, duration_s=6),
}
JUDGED = ("search", "cubic", "cubic_plain", "bbr")
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
    left_s = pl.read_parquet(trial / "exits.parquet")["t_s"].max()
    first = with_extent(meta["flows"][0], data_s=0.8, end_s=max(1.2, left_s or 0))
    rewrite(file, meta | {"flows": [first]})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Stored]:
    results = tmp_path_factory.mktemp("results")
    found = {}
    for name, link in LINKS.items():
        run = store_run(results, 2, name=name, link=link, senders=JUDGED)
        for trial in run.glob("trials/*"):
            with_second_download(trial)
        half_as_fast_from(run / "trials" / "cubic_plain-002", 1.0)
        begins_late_and_ends_early(run / "trials" / "search-002")
        without_a_drop(run / "trials" / "cubic_plain-001")
        opened = Run(run)
        found[name] = Stored(name, opened, judged(opened))
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
            found, left = numbers_of(Trial(trial.path)), first_exit(Trial(trial.path).exits)
            times = [rounded(found["download_s"][size - 1]) for size in SIZES]
            numbers = [rounded(found[key]) for key in ("initial_rtt_ms", "max_rtt_ms", "wait_ms")]
            rows.append(f"{name}: {trial.path.name}: {numbers} {times} {left}")
    text = "\n".join(rows) + "\n"
    assert text == approved("judgement-numbers.txt", text)


def test_the_sums_of_each_run_are_the_approved_ones(runs: dict[str, Stored]) -> None:
    text = ""
    for name, each in runs.items():
        summary = summarise(each.judged.outcomes, [str(stanza["name"]) for stanza in each.ccas])
        text += f"# {name}: {each.link}; shown: {sorted(representatives(each.judged.outcomes).items())}\n"
        text += as_text(summary, *SUMS_OF_A_RULE)
    assert text == approved("judgement-sums.txt", text)
