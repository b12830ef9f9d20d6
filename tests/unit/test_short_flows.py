# SPDX-License-Identifier: GPL-2.0-or-later
"""What an exit costs a workload: like with like, paired by seed, tested with Holm's correction, in a sentence."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from bench import short_flows as bench
from lab.base.format import NONE
from lab.evaluation.short_flows import REFERENCE, Cost, costs
from lab.evaluation.short_flows import short_flows as flows_of
from lab.judge.short_flow import ShortFlow, bdp_bytes, groups_s, short_flow
from lab.judge.stored import Stored
from lab.report import short_flows
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from lab.tables.trial_json import ObjectJson, TrialJson
from tests.stored_run import change, rewrite, store_run

TRIALS = 12
LABELS = {"cubic": "CUBIC", "search": "SEARCH", REFERENCE: "never"}


def flow(cca: str, trial: int, group_s: float | None, early: bool = False) -> ShortFlow:
    """A trial with one group of two objects, the first whole at half of its time; early: at half of the BDP."""
    half = None if group_s is None else group_s / 2
    pct = 50.0 if early else None
    return ShortFlow(cca, trial, early, early, False if early else None, pct, pct, (half, group_s), (group_s,), 0.0)


def flows() -> list[ShortFlow]:
    """CUBIC is early and 100 ms behind in each trial; SEARCH is as good as the reference."""
    each = range(1, TRIALS + 1)
    return [
        *(flow("cubic", n, 1.1 + n, early=True) for n in each),
        *(flow("search", n, 1.0 + n) for n in each),
        *(flow(REFERENCE, n, 1.0 + n) for n in each),
    ]


def by_cca(found: list[Cost]) -> dict[str, Cost]:
    return {cost.cca: cost for cost in found}


def test_a_cost_is_the_mean_difference_to_the_sender_that_leaves_upon_loss_only() -> None:
    found = by_cca(costs(flows(), list(LABELS), TRIALS))
    assert found["cubic"].group_ms.difference == pytest.approx(100)
    assert found["cubic"].object_ms.difference == pytest.approx(75)  # half and whole of it
    assert found["cubic"].behind_best_ms.difference == pytest.approx(100)
    assert found["search"].group_ms.difference == pytest.approx(0)
    assert (found["cubic"].early, found["cubic"].left, found["search"].early) == (TRIALS, TRIALS, 0)
    # what differs in each trial is separated, what never does is not, and few trials separate nothing
    assert {name for name, cost in found.items() if cost.separated} == {"cubic"}
    few = [each for each in flows() if each.trial <= 3]
    assert not any(cost.separated for cost in costs(few, list(LABELS), 3))


def test_what_one_sender_did_not_finish_counts_for_none_of_its_seed_and_an_invalid_trial_for_that_sender() -> None:
    """Or a sender that is cut off would seem fast: its slowest objects are those that are missing."""
    cut = [flow("cubic", 1, None) if (each.cca, each.trial) == ("cubic", 1) else each for each in flows()]
    found = by_cca(costs(cut, list(LABELS), TRIALS))
    assert all(cost.group_s[0] is None for cost in found.values())
    assert all(cost.group_ms.pairs == TRIALS - 1 for cost in found.values())
    assert found["cubic"].unfinished == 2
    fewer = [each for each in flows() if (each.cca, each.trial) != ("search", 2)]
    found = by_cca(costs(fewer, list(LABELS), TRIALS))
    assert (found["search"].group_ms.pairs, found["cubic"].group_ms.pairs) == (TRIALS - 1, TRIALS)


def test_the_cost_of_early_exits_is_of_the_trials_that_have_one() -> None:
    some = [each if each.cca != "cubic" or each.trial % 2 else flow("cubic", each.trial, 1.0) for each in flows()]
    found = by_cca(costs(some, list(LABELS), TRIALS))
    assert found["cubic"].early_ms.pairs == TRIALS // 2
    assert found["cubic"].early_ms.difference == pytest.approx(100)
    assert found["search"].early_ms.difference is None


def test_without_the_reference_there_is_the_best_sender_only() -> None:
    without = [each for each in flows() if each.cca != REFERENCE]
    found = by_cca(costs(without, ["cubic", "search"], TRIALS))
    assert found["cubic"].group_ms.difference is None
    assert found["cubic"].behind_best_ms.difference == pytest.approx(100)
    assert not found["cubic"].separated
    assert short_flows.sentences(list(found.values()), LABELS, "page")[0] == (
        "Early exits: CUBIC 12 of 12; SEARCH 0 of 12."
    )


def test_the_page_answers_in_a_sentence_the_costliest_first_or_that_there_is_no_answer() -> None:
    first, second = short_flows.sentences(costs(flows(), list(reversed(LABELS)), TRIALS), LABELS, "page")
    assert first == (
        "Early exits, and time per page against never: CUBIC 12 of 12, +100 [+100 to +100]* ms; "
        "SEARCH 0 of 12, +0 [+0 to +0] ms. A star: separated from it after Holm's correction."
    )
    assert second == "24 of 36 connections never left slow start."
    found = costs([], list(LABELS), TRIALS)
    assert short_flows.sentences(found, LABELS, "page") == ("No valid trial: this run has no answer.",)
    assert len(short_flows.table(found, LABELS, "page").groups) == 3


def test_a_sender_that_costs_without_being_early_is_named_too_and_few_pairs_separate_nobody() -> None:
    late = [each if each.cca != "cubic" else flow("cubic", each.trial, 1.1 + each.trial) for each in flows()]
    first, _ = short_flows.sentences(costs(late, list(LABELS), TRIALS), LABELS, "page")
    assert "CUBIC 0 of 12, +100 [+100 to +100]* ms" in first
    few = [each for each in flows() if each.trial <= 3]
    first, _ = short_flows.sentences(costs(few, list(LABELS), 3), LABELS, "page")
    assert "CUBIC 3 of 3, +100 [+100 to +100] ms;" in first


def test_a_cost_that_rounds_to_nothing_has_no_sign_of_less() -> None:
    nearly = [flow(REFERENCE, each.trial, 1.0002 + each.trial) if each.cca == REFERENCE else each for each in flows()]
    first, _ = short_flows.sentences(costs(nearly, list(LABELS), TRIALS), LABELS, "page")
    assert "SEARCH 0 of 12, +0 [+0 to +0]* ms" in first


def test_the_table_marks_what_is_separated_and_counts_what_was_not_whole() -> None:
    cut = [*flows()[:-1], flow(REFERENCE, TRIALS, None)]
    shown = short_flows.table(costs(cut, list(LABELS), TRIALS), LABELS, "chunk")
    cells = {group.label: dict(zip(shown.header, group.rows[0].cells, strict=True)) for group in shown.groups}
    assert cells["CUBIC"]["Per chunk (ms)"] == "+100 [+100 to +100]*"
    assert cells["CUBIC"]["Early"] == "12 of 12"
    assert cells["CUBIC"]["Window / threshold (% of BDP)"] == "50 / 50"
    assert cells["SEARCH"]["Left"] == "0 of 12"
    assert cells["never"]["Per chunk (ms)"] == NONE
    assert shown.notes == ("2 objects were not whole when their trial ended: they are in no time.",)


def test_a_group_lasts_from_its_first_request_to_its_last_byte() -> None:
    def item(group: int, begun: float | None, whole: float | None) -> ObjectJson:
        return {"exchange": 1, "group": group, "bytes": 1, "requested_s": begun, "whole_s": whole}

    assert groups_s([item(1, 0.0, 1.0), item(1, 2.0, 5.0), item(2, 6.0, None)]) == (5.0, None)
    assert bdp_bytes(cast(TrialJson, {"rate_mbps": 8.0, "base_rtt_ms": 100.0})) == pytest.approx(100_000)


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """CUBIC's stored trial: an exit at a window of 40 segments, on a path that holds 138."""
    run = store_run(tmp_path_factory.mktemp("results"))
    return Trial(next(path for path in sorted((run / "trials").iterdir()) if path.name.startswith("cubic-")))


def with_workload(trial: Trial, **fields: Any) -> Trial:
    content: Any = {"objects": [], "stalled_s": 0.0, "limited": [[0.0, 1.0]]} | fields
    trial.__dict__["meta"] = {**trial.meta, "workload": content}
    return trial


def test_an_exit_is_early_where_neither_queue_nor_window_had_filled_the_path(trial: Trial) -> None:
    judged = short_flow(with_workload(trial), "early")
    assert judged.left
    assert judged.early
    assert judged.window_pct is not None
    assert judged.threshold_pct is not None
    assert judged.threshold_pct == pytest.approx(judged.window_pct)
    assert judged.window_pct < 100
    assert not short_flow(trial, "chokepoint").early
    assert not short_flow(trial, None).early


def test_an_exit_at_a_window_that_fills_the_path_is_not_early_though_the_queue_was_empty(trial: Trial) -> None:
    meta = trial.meta
    trial.__dict__["meta"] = {**meta, "rate_mbps": meta["rate_mbps"] / 100}
    assert not short_flow(with_workload(trial), "early").early
    trial.__dict__["meta"] = meta


def test_the_application_was_the_limit_where_the_last_sample_before_the_exit_shows_it(trial: Trial) -> None:
    assert short_flow(with_workload(trial, limited=[[0.0, 1.0]]), "early").limited is True
    assert short_flow(with_workload(trial, limited=[[0.0, 1.0], [0.01, 0.0], [1e9, 1.0]]), "early").limited is False
    assert short_flow(with_workload(trial, limited=[[1e9, 1.0]]), "early").limited is None
    at_s = trial.exits["t_s"][0]
    assert short_flow(with_workload(trial, limited=[[0.0, 1.0], [at_s, 0.0]]), "early").limited is False


def test_the_benchmark_publishes_what_the_page_shows_of_every_scenario_with_a_workload() -> None:
    cost = by_cca(costs(flows(), list(LABELS), TRIALS))["cubic"]
    published = {each["name"]: each["value"] for each in bench.figures("calls", "CUBIC", cost, "call")}
    assert published["calls, CUBIC: early"] == published["calls, CUBIC: connections"] == TRIALS
    assert published["calls, CUBIC: cost"] == 100
    assert published["calls, CUBIC: separated"] == "yes"
    (own,) = (group.rows[0] for group in short_flows.table([cost], LABELS, "call").groups)
    assert any(cell.startswith("+100") for cell in own.cells)
    assert "short-requests-geo" in bench.with_workload()
    assert "geo" not in bench.with_workload()


def test_a_run_with_a_workload_has_a_flow_per_valid_trial_and_a_table_on_its_page(tmp_path: Path) -> None:
    run = store_run(tmp_path, 2, senders=("cubic_plain", "bbr"))
    assert short_flows.of_run(Stored.of(Run(run))) == ((), ())
    item = {"exchange": 1, "group": 1, "bytes": 1000, "requested_s": 0.5, "whole_s": 1.5}
    none = dict.fromkeys(("stalled_s", "busy_s", "rwnd_limited_s", "sndbuf_limited_s"), 0.0)
    content = {"objects": [item], "limited": [[0.0, 1.0]], **none}
    for file in run.glob("trials/*/trial.json"):
        rewrite(file, json.loads(file.read_text()) | {"workload": content})
    change(run, scenario={"workload": {"kind": "requests"}}, seeds=[1, 2])
    stored = Stored.of(Run(run))
    judged = flows_of(stored)
    assert sorted((flow.cca, flow.trial) for flow in judged) == [("bbr", 1), ("cubic_plain", 1), ("cubic_plain", 2)]
    answers, (table,) = short_flows.of_run(stored)
    assert len(answers) == 2
    assert [group.label for group in table.groups] == [stanza["label"] for stanza in stored.ccas]
    assert table.groups[0].rows[0].cells[4] == "1.00"
    rewrite(file, json.loads(file.read_text()) | {"workload": content | {"objects": [item | {"whole_s": 0.25}]}})
    (fault,) = Run(run).faults
    assert "workload.objects[0].whole_s=0.25: must be at least 0.5, its requested_s" in fault
