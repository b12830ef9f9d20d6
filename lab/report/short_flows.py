# SPDX-License-Identifier: GPL-2.0-or-later
"""A workload on the page: how many exits were early, and what they cost, in sentences and as a table."""

from collections.abc import Mapping, Sequence

from lab.base.format import few, number
from lab.base.stats import Paired, mean_of
from lab.evaluation.short_flows import REFERENCE, Cost, costs, short_flows
from lab.judge.stored import Stored
from lab.report.table import Group, Row, Table
from lab.schema.workload import workloads


def of_run(stored: Stored) -> tuple[tuple[str, ...], tuple[Table, ...]]:
    """Return the sentences and the table of a run with a workload; nothing of others."""
    workload = stored.run.scenario.get("workload")
    if not workload:
        return (), ()
    senders = [stanza["name"] for stanza in stored.ccas]
    found = costs(short_flows(stored), senders, len(stored.run.meta["seeds"]))
    labels = {stanza["name"]: stanza["label"] for stanza in stored.ccas}
    unit = unit_of(str(workload["kind"]))
    return sentences(found, labels, unit), (table(found, labels, unit),)


def unit_of(kind: str) -> str:
    """Return what a workload calls its groups; `group` where it is no longer there."""
    known = workloads().get(kind)
    return known.unit if known else "group"


def sentences(found: Sequence[Cost], labels: Mapping[str, str], unit: str) -> tuple[str, ...]:
    """Answer what each sender costs and how often it left early, the costliest first, and how many never left."""
    flows = sum(len(cost.flows) for cost in found)
    if not flows:
        return ("No valid trial: this run has no answer.",)
    stayed = flows - sum(cost.left for cost in found)
    left = f"{stayed} of {flows} connections never left slow start."
    measured = [cost for cost in found if cost.cca != REFERENCE and cost.group_ms.difference is not None]
    compared = sorted(measured, key=lambda cost: -(cost.group_ms.difference or 0))
    if not compared:
        return (f"Early exits: {'; '.join(_early(cost, labels) for cost in found)}.", left)
    listed = "; ".join(f"{_early(cost, labels)}, {_cost_ms(cost)} ms" for cost in compared)
    separated = "A star: separated from it after Holm's correction."
    return (f"Early exits, and time per {unit} against {labels[REFERENCE]}: {listed}. {separated}", left)


def _early(cost: Cost, labels: Mapping[str, str]) -> str:
    return f"{labels[cost.cca]} {cost.early} of {len(cost.flows)}"


def _cost_ms(cost: Cost) -> str:
    return _signed(cost.group_ms) + ("*" if cost.separated else "")


def table(found: Sequence[Cost], labels: Mapping[str, str], unit: str) -> Table:
    """Return one row per sender."""
    header = (
        "Left",
        "Early",
        "Limited",
        "Window / threshold (% of BDP)",
        f"{unit.capitalize()} (s)",
        "Per object (ms)",
        f"Per {unit} (ms)",
        "If early (ms)",
        "Behind best (ms)",
    )
    caption = (
        f"What leaving slow start costs each {unit}. Early: before the bottleneck's queue stayed filled, and with a "
        "window below the bandwidth-delay product (BDP). Limited: the application was the limit at the exit. "
        "Threshold: after the exit; a slow start after a pause goes that far. Costs are mean differences of trials "
        f"with the same seed, with 95 % intervals of six or more: to {labels.get(REFERENCE, REFERENCE)}, per object, "
        f"per {unit}, and per {unit} of trials with an early exit; and per {unit} to the best sender of each seed. A "
        "star: separated from that reference (Holm's correction over all senders)."
    )
    unfinished = sum(cost.unfinished for cost in found)
    notes = (f"{unfinished} objects were not whole when their trial ended: they are in no time.",) if unfinished else ()
    rows = tuple(Group(labels[cost.cca], (Row(_cells(cost)),)) for cost in found)
    return Table("short-flows", caption, header, rows, notes)


def _cells(cost: Cost) -> tuple[str, ...]:
    flows = len(cost.flows)
    windows, thresholds = (
        mean_of([getattr(flow, name) for flow in cost.flows]) for name in ("window_pct", "threshold_pct")
    )
    return (
        few(cost.left, flows),
        few(cost.early, flows),
        few(cost.limited, cost.left),
        number(None, 0) if windows is None else f"{number(windows, 0)} / {number(thresholds, 0)}",
        number(mean_of(cost.group_s), 2),
        _signed(cost.object_ms) if cost.cca != REFERENCE else number(None, 0),
        _cost_ms(cost) if cost.cca != REFERENCE else number(None, 0),
        _signed(cost.early_ms) if cost.cca != REFERENCE else number(None, 0),
        _signed(cost.behind_best_ms),
    )


def _signed(difference: Paired) -> str:
    """Format a mean difference with its interval; what rounds to nothing is +0."""
    known = [each for each in (difference.difference, difference.lo, difference.hi) if each is not None]
    mean, *bounds = [f"{round(each) + 0.0:+,.0f}" for each in known] or [number(None, 0)]
    return f"{mean} [{' to '.join(bounds)}]" if bounds else mean
