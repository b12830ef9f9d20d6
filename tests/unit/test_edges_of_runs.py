# SPDX-License-Identifier: GPL-2.0-or-later
"""Edges of runs: links of a comparison, the list of `lab same`, what a certificate counts, modules of a trial."""

import copy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from lab_papers.campaign import campaign, load_campaign, quick_trials, stages
from lab_papers.same.trials import experiments
from lab_papers.same.values import BLOCK_PKTS, ROWS_PKTS, values_of

from lab.runs.certificate import BUSY_SAMPLES, LOSS_SDS, certify
from lab.runs.experiment import load_experiment
from lab.runs.link_kinds import KINDS, Link, links
from lab.runs.trial import Job, _add_files
from lab.schema.cca import load_ccas
from lab.schema.scenario import load_scenario, scenarios
from lab.tables.stored_run import Run
from lab.tables.trial_tables import TRIAL_TABLES
from lab.tables.values_digest import digest
from tests.stored_run import store_run
from tests.unit.test_certificate import NODE, PLAN, TABLES, checked

SERVER = ("geo-viasat", "geo-viasat-thesis", "wifi-high", "wifi-low")  # recorded with one server, which paced


@pytest.mark.parametrize("profile", SERVER)
def test_a_link_of_a_comparison_has_the_mtu_and_the_pacing_of_the_scenarios_over_it(profile: str) -> None:
    known = [scenario for _, scenario in map(load_scenario, scenarios()) if scenario.profile == profile]
    for link in KINDS.values():
        if link.profile == profile:
            assert (link.mtu_bytes, link.pacing) in {(one.mtu_bytes, one.pacing) for one in known}
            assert link.pacing == "fq"


def test_a_link_has_room_for_a_second_download_only_where_it_has_a_rival() -> None:
    assert Link("a", "wired-clean", 5).topology == "path"
    assert Link("a", "wired-clean", 5, rival="cubic").topology == "dumbbell"
    assert [link.name for link in links(["wired-shared"])] == ["wired-shared"]


def test_each_run_of_the_list_has_the_stanza_of_each_of_its_senders() -> None:
    for experiment in experiments():
        assert list(experiment.ccas) == list(experiment.scenario.ccas)
        assert all(experiment.ccas[name] == load_ccas()[name] for name in experiment.ccas)
    rivals = {experiment.name: experiment.rivals for experiment in experiments() if experiment.rivals}
    assert rivals == {"two-downloads": {"cubic": load_ccas()["cubic"]}}


def test_what_is_compared_of_a_trial_are_its_tables_its_packets_by_the_thousand_and_the_first_of_them(
    tmp_path: Path,
) -> None:
    (trial,) = Run(store_run(tmp_path, 1, senders=("cubic_plain",))).trials
    found = values_of(trial)
    assert found.tables == {name: digest(trial.table(name)) for name in TRIAL_TABLES}
    assert len(set(found.tables.values())) > 1
    assert len(found.blocks) == -(-trial.packets.height // BLOCK_PKTS) > 1
    assert found.blocks[1] == digest(trial.packets.slice(BLOCK_PKTS, BLOCK_PKTS))
    assert found.first.equals(trial.packets.head(ROWS_PKTS))


# ---- what a certificate states


def parts() -> tuple[Any, Any, dict[str, pl.DataFrame]]:
    return copy.deepcopy(PLAN), copy.deepcopy(NODE), dict(TABLES)


def test_the_rate_of_a_certificate_is_that_of_the_link_in_megabits() -> None:
    check = checked(*parts())["rate while the bottleneck had a queue"]
    assert check["asked"] == pytest.approx(PLAN["link"]["rate_mbps"], rel=0.5)
    assert check["got"] == pytest.approx(check["asked"], rel=0.05)


@pytest.mark.parametrize(("samples", "is_known"), [(BUSY_SAMPLES, True), (BUSY_SAMPLES - 1, False)])
def test_the_rate_of_a_certificate_is_taken_over_spells_of_enough_samples(samples: int, is_known: bool) -> None:
    plan, node, tables = parts()
    tables["qdisc"] = tables["qdisc"].with_columns(
        backlog_bytes=pl.when(pl.int_range(pl.len()).is_between(40, 39 + samples)).then(10**9).otherwise(0)
    )
    check = checked(plan, node, tables)["rate while the bottleneck had a queue"]
    assert (check["got"] is not None) is is_known


def test_drops_of_a_queue_and_of_tcp_add_up() -> None:
    plan, node, tables = parts()
    end = next(name for name in node["counters"]["interfaces"] if name.startswith("client"))
    node["counters"]["interfaces"][end]["rx_dropped_pkts"] += 3
    kind = next(iter(node["counters"]["tcp"]))
    node["counters"]["tcp"][kind] = {"TCPRcvQDrop": 3}
    check = checked(plan, node, tables)["drops anywhere but at the bottleneck"]
    assert (check["got"], check["ok"]) == (6, False)


def test_the_share_of_a_random_loss_is_of_the_packets_that_were_offered() -> None:
    plan, node, tables = parts()
    shape = plan["shapes"][0]
    shape["spec"] = {"kind": "netem", "loss_pct": 25.0}
    shape["steps"] = None
    end = f"{shape['node']}:{shape['dev']}"
    node["counters"]["interfaces"][end] |= {"tx_pkts": 750, "qdisc_dropped_pkts": 250}
    check = {one["name"]: one for one in certify(plan, node, tables)["checks"]}[f"random loss, {shape['part']}"]
    assert (check["asked"], check["got"], check["ok"]) == (25.0, 25.0, True)
    sd_pct = 100 * (0.25 * 0.75 / 1000) ** 0.5  # of a share of a thousand
    assert check["tolerance"] == pytest.approx(LOSS_SDS * sd_pct)


# ---- senders


def test_the_modules_of_both_senders_of_a_trial_are_copied_next_to_its_plan(tmp_path: Path) -> None:
    experiment = load_experiment("compete-cubic")
    own_ = {"module": "tcp_mine", "module_digest": "d"}
    modules = {"d": tmp_path / "built.ko"}
    modules["d"].write_text("a module")
    name = next(iter(experiment.ccas))
    changed = replace(
        experiment,
        ccas={name: experiment.ccas[name].model_copy(update=own_)},
        rivals={"cubic": experiment.rivals["cubic"].model_copy(update={"module": "tcp_theirs", "module_digest": "d"})},
    )
    backend: Any = SimpleNamespace(own_modules=modules)
    folder = tmp_path / "trial"
    folder.mkdir()
    _add_files(Job(changed, name, 1, folder, backend), folder)
    copied = sorted(path for path in folder.rglob("*") if path.is_file())
    assert [path.read_text() for path in copied] == ["a module"] * 2
    assert ["tcp_mine" in str(copied[0]), "tcp_theirs" in str(copied[1])] == [True, True]


def test_a_scenario_that_cannot_be_read_is_reported_with_the_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.yml").write_text("question: What is missing?\n")
    monkeypatch.setenv("LAB_SCENARIOS", str(tmp_path))
    assert "broken" in campaign()
    experiments, errors = load_campaign(["broken", "geo"], quick=True)
    assert [experiment.name for experiment in experiments] == ["geo"]
    assert "broken.yml" in str(errors[0])


def test_the_papers_experiments_come_before_all_their_counterfactuals() -> None:
    own, counterfactuals = stages()
    assert own + counterfactuals == [*own, *(name for name in campaign() if name not in own)]
    assert {load_scenario(name)[1].counterfactual_of is None for name in own} == {True}
    assert {load_scenario(name)[1].counterfactual_of is None for name in counterfactuals} == {False}
    assert all(load_scenario(name)[1].campaign for name in own)
    assert set(campaign()) < set(scenarios())


@pytest.mark.parametrize(("trials", "quick"), [(200, 20), (101, 11), (100, 10), (50, 10), (10, 10), (9, 9), (1, 1)])
def test_a_quick_campaign_runs_a_tenth_and_enough_for_a_claim(trials: int, quick: int) -> None:
    assert quick_trials(trials) == quick
