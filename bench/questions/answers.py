# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows of a question: a form at a place, against the question's base on the same draws.

Exits are judged by the lasting truth. Two forms have separated where the exact paired test of one look rejects that
they are alike (lab/evaluation/sequential.py), after Holm's correction over all pairs of the question.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from lab_papers.evaluation.search.replay import Download, class_of, downloads, exit_of, varied
from lab_papers.search_replay import EXIT, exit_pkts, replay_bins, version

from bench.questions.schema import Form, Question
from lab.base.errors import UserError
from lab.base.stats import mean_sd, paired, wilson_pct
from lab.evaluation.sequential import holm, level, one_look
from lab.evaluation.short_flows import costs, short_flows
from lab.judge.copies import distinct
from lab.judge.registry import LASTING
from lab.judge.slow_start import SlowStartExit
from lab.judge.stored import Stored

Row = dict[str, Any]
CLASSES = ("early", "chokepoint", "late")


@dataclass(frozen=True)
class Exit:
    """An exit of one trial: its class, and when it came, in base RTTs; null where there was none."""

    of_class: str | None
    rtts: float | None


def rows(asked: Question, runs: Mapping[str, Stored], library: Path) -> list[Row]:
    """Return the rows of a question, of the judged run of each place."""
    if asked.way == "workload":
        return [row for place, stored in runs.items() for row in _of_workload(asked, place, stored)]
    if asked.way == "window":
        return _separated([row for place, stored in runs.items() for row in _of_window(asked, place, stored, library)])
    found: list[Row] = []
    for place, stored in runs.items():
        exits = _replayed(asked, stored, library) if asked.way == "replayed" else _whole(asked, stored)
        found += [_of_exits(asked, place, form, exits) for form in asked.forms]
    return _separated(found)


def _replayed(asked: Question, stored: Stored, library: Path) -> dict[str, dict[int, Exit]]:
    found: dict[str, dict[int, Exit]] = {name: {} for name in asked.forms}
    rtt_s = _base_rtt_s(stored)
    for one in downloads(stored):
        for name, form in asked.forms.items():
            left = _left(one, form, library)
            found[name][one.trial] = Exit(class_of(one, left, LASTING), left.t_s / rtt_s if left else None)
    return found


def _left(one: Download, form: Form, library: Path) -> SlowStartExit | None:
    """Return when a form would have left; with the second RTT sample, its bins are as long as that has it."""
    if form.second_rtt:
        samples = np.flatnonzero(one.rtt_us > 0)
        if len(samples) > 1:
            rtt_us = np.array(one.rtt_us)
            rtt_us[samples[0]] = rtt_us[samples[1]]
            one = replace(one, rtt_us=rtt_us)
    known = version(library, form.sender)
    return exit_of(library, one, replace(varied(known.params, **form.params), compact=known.compact))


def _whole(asked: Question, stored: Stored) -> dict[str, dict[int, Exit]]:
    rtt_s = _base_rtt_s(stored)
    outcomes = distinct(stored.judged.outcomes).filter(heuristic=LASTING)
    return {
        name: {
            trial: Exit(of_class, None if exit_s is None else exit_s / rtt_s)
            for trial, of_class, exit_s in outcomes.filter(cca=name).select("trial", "exit_class", "exit_s").rows()
        }
        for name in asked.forms
    }


def _base_rtt_s(stored: Stored) -> float:
    if not stored.run.trials:
        raise UserError(f"{stored.name}: trials: must have a result")
    return float(stored.run.trials[0].meta["base_rtt_ms"]) / 1e3


def _of_exits(asked: Question, place: str, form: str, exits: Mapping[str, Mapping[int, Exit]]) -> Row:
    own, base = exits[form], exits[asked.base]
    both = sorted(own.keys() & base.keys())
    hits, others = ([each[trial].of_class == asked.measure for trial in both] for each in (own, base))
    differences = [float(hit) - float(other) for hit, other in zip(hits, others, strict=True)]
    moved = paired([own[trial].rtts for trial in both], [base[trial].rtts for trial in both])
    counts = {name: sum(each.of_class == name for each in own.values()) for name in CLASSES}
    low, high = wilson_pct(counts[asked.measure], len(own))
    return {
        "place": place,
        "form": form,
        "trials": len(own),
        **counts,
        "lo_pct": low,
        "hi_pct": high,
        "pairs": len(both),
        "only_form": sum(each > 0 for each in differences),
        "only_base": sum(each < 0 for each in differences),
        "later_rtts": moved.difference,
        "later_lo": moved.lo,
        "later_hi": moved.hi,
        "level": None if form == asked.base or not both else level(differences, one_look(len(both))),
    }


def _separated(found: Sequence[Row]) -> list[Row]:
    """Add to each row whether its form has separated from the base."""
    tested = [row for row in found if row["level"] is not None]
    decided = dict(zip(map(id, tested), holm([row["level"] for row in tested]), strict=True))
    return [{**row, "separated": decided.get(id(row))} for row in found]


def _of_workload(asked: Question, place: str, stored: Stored) -> Iterator[Row]:
    for cost in costs(short_flows(stored), list(asked.forms), len(stored.run.meta["seeds"])):
        yield {
            "place": place,
            "form": cost.cca,
            "trials": len(cost.flows),
            "left": cost.left,
            "early": cost.early,
            "limited": cost.limited,
            "pairs": cost.group_ms.pairs,
            "cost_ms": cost.group_ms.difference,
            "cost_lo": cost.group_ms.lo,
            "cost_hi": cost.group_ms.hi,
            "separated": None if cost.cca == asked.base else cost.separated,
        }


def _of_window(asked: Question, place: str, stored: Stored, library: Path) -> Iterator[Row]:
    """Yield each target's share of the true BDP, and how much further from it than the base's it lies."""
    found = [shares for one in downloads(stored) if (shares := _shares(one, asked.forms, library))]
    base = [abs(shares[asked.base] - 1) for shares in found]
    for form in asked.forms:
        own = [shares[form] for shares in found]
        off = [abs(share - 1) for share in own]
        moved = paired(off, base)
        yield {
            "place": place,
            "form": form,
            "trials": len(own),
            "bdps": mean_sd(own)[0],
            "pairs": moved.pairs,
            "further_bdps": moved.difference,
            "further_lo": moved.lo,
            "further_hi": moved.hi,
            "level": None
            if form == asked.base or not own
            else level([one - other for one, other in zip(off, base, strict=True)], one_look(len(own))),
        }


def _shares(one: Download, forms: Mapping[str, Form], library: Path) -> dict[str, float]:
    """Return each target over the BDP of the link at the exit; none of a download that no form leaves before a loss."""
    assert one.queue is not None
    link, found = one.queue[1], {}
    for name, form in forms.items():
        params = varied(version(library, form.sender).params, **form.params).params
        streams = (one.t_us, one.rtt_us, one.delivered_bytes)
        exits = replay_bins(library, *streams, params, sent_bytes=one.sent_bytes)
        exits = exits[exits["verdict"] == EXIT]
        if not len(exits):
            return {}
        at, t_s = int(exits[0]["ack"]), float(one.t_us[int(exits[0]["ack"])]) / 1e6
        target_pkts = exit_pkts(library, params, exits[0], int(one.cwnd_pkts[at]), one.mss_bytes)
        bdp_bytes = link.bytes_between(t_s, t_s + link.base_rtt_ms(t_s) / 1e3)
        target_bytes = _of_last_rtt(one, at) if form.current_rtt else target_pkts * one.mss_bytes
        if bdp_bytes <= 0:
            return {}
        found[name] = target_bytes / bdp_bytes
    return found


def _of_last_rtt(one: Download, at: int) -> float:
    """Return what was delivered in the round trip that ends with an ACK."""
    since = np.searchsorted(one.t_us, one.t_us[at] - one.rtt_us[at], "right") - 1
    return float(one.delivered_bytes[at] - (one.delivered_bytes[since] if since >= 0 else 0))
