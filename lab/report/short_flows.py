# SPDX-License-Identifier: GPL-2.0-or-later
"""A workload on the page: how many exits were early, and what they cost, as a sentence and as a table."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from lab.base.format import few, number
from lab.base.stats import Paired
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
    """Answer which senders left early and what it cost, which differ, and how many connections never left."""
    flows = sum(len(cost.flows) for cost in found)
    if not flows:
        return ("No valid trial: this run has no answer.",)
    early = [_early(cost, labels, unit) for cost in found if cost.early]
    none = [labels[cost.cca] for cost in found if cost.flows and not cost.early]
    parts = [*early, *([f"no exit of {_listed(none)} was early"] if none else [])]
    first = "; ".join(parts)
    stayed = flows - sum(cost.left for cost in found)
    return (
        f"{first[0].upper()}{first[1:]}.",
        *_separated(found, labels, unit),
        f"{stayed} of {flows} connections never left slow start.",
    )


def _separated(found: Sequence[Cost], labels: Mapping[str, str], unit: str) -> Iterator[str]:
    """Yield which senders differ from the reference, whether early or not; nothing without that reference."""
    if not any(_compared(cost) for cost in found):
        return
    apart = [f"{labels[cost.cca]} ({_signed(cost.group_ms)} ms)" for cost in found if cost.separated]
    by = f"by the time of a {unit}, after Holm's correction"
    yield f"{_listed(apart) if apart else 'No sender'} separated from {labels[REFERENCE]} {by}."


def _early(cost: Cost, labels: Mapping[str, str], unit: str) -> str:
    against = f" ({_signed(cost.group_ms)} ms per {unit} against {labels[REFERENCE]})" if _compared(cost) else ""
    return f"{labels[cost.cca]} left slow start early in {cost.early} of {len(cost.flows)} trials{against}"


def _compared(cost: Cost) -> bool:
    return cost.cca != REFERENCE and cost.group_ms.difference is not None


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def table(found: Sequence[Cost], labels: Mapping[str, str], unit: str) -> Table:
    """Return one row per sender."""
    header = (
        "Left",
        "Early",
        "Limited",
        "Window, threshold (% of BDP)",
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
        f"with the same seed, with 95 % intervals: to {labels.get(REFERENCE, REFERENCE)}, per object, per {unit}, and "
        f"per {unit} of trials with an early exit; and per {unit} to the best sender of each seed. A star: separated "
        "from that reference (Holm's correction over all senders)."
    )
    unfinished = sum(cost.unfinished for cost in found)
    notes = (f"{unfinished} objects were not whole when their trial ended: they are in no time.",) if unfinished else ()
    rows = tuple(Group(labels[cost.cca], (Row(_cells(cost)),)) for cost in found)
    return Table("short-flows", caption, header, rows, notes)


def _cells(cost: Cost) -> tuple[str, ...]:
    flows = len(cost.flows)
    windows, thresholds = (
        _mean([getattr(flow, name) for flow in cost.flows]) for name in ("window_pct", "threshold_pct")
    )
    return (
        few(cost.left, flows),
        few(cost.early, flows),
        few(cost.limited, cost.left),
        number(None, 0) if windows is None else f"{number(windows, 0)}, {number(thresholds, 0)}",
        number(_mean(cost.group_s), 2),
        _signed(cost.object_ms) if cost.cca != REFERENCE else number(None, 0),
        _signed(cost.group_ms) + ("*" if cost.separated else "") if cost.cca != REFERENCE else number(None, 0),
        _signed(cost.early_ms) if cost.cca != REFERENCE else number(None, 0),
        _signed(cost.behind_best_ms),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _signed(difference: Paired) -> str:
    """Format a mean difference with its interval."""
    if difference.difference is None:
        return number(None, 0)
    if difference.lo is None or difference.hi is None:
        return f"{difference.difference:+,.0f}"
    return f"{difference.difference:+,.0f} [{difference.lo:+,.0f} to {difference.hi:+,.0f}]"
