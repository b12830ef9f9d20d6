# SPDX-License-Identifier: GPL-2.0-or-later
"""The criteria of RFC 9743, sections 5 to 7: what this comparison ran, what it saw, and what it did not run.

A criterion counts as run only where a trial of this comparison tests it; never because another run once did.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from lab.base.format import number, trials_text
from lab.base.stats import mean_of
from lab.evaluation.measures import BY_NAME, REFERENCE
from lab.tables.stored_trial import Trial
from lab_compare.comparison import Comparison
from lab_compare.matrix.texts import rank_text, value_text
from lab_compare.report.cells import labels
from lab_compare.results import LinkResult

NOT_RUN = "not run"
FIFO = ("bfifo", "pfifo")
AQM = ("cake", "codel", "fq_codel", "pie", "red")  # other kinds divide, delay or disturb what passes
HIGH_RTT_MS = 400.0  # of a path with high delay: a geostationary one's least round trip is about 480 ms
HEAVY_LOSS_PCT = 30.0


@dataclass(frozen=True)
class Criterion:
    """One row: what the RFC asks, what was run for it, and what was seen; `state` is run, in part or not run."""

    section: str
    name: str
    state: str
    ran: str
    seen: Sequence[str]


Seen = tuple[str, str, list[str]]  # state, what was run, and what was seen
Look = Callable[[Comparison, Sequence[LinkResult]], Seen | None]


def scorecard(comparison: Comparison, found: Sequence[LinkResult]) -> list[Criterion]:
    """Return every criterion, in the order of the RFC."""
    stored = [each for each in found if each.stored]
    rows = []
    for section, name, why, look in CRITERIA:
        seen = look(comparison, stored) if look else None
        state, ran, lines = seen or (NOT_RUN, why, [])
        rows.append(Criterion(section, name, state, ran, lines))
    return rows


def _alone(found: LinkResult) -> bool:
    return not found.link.rival


def _measured(measure: str, what: str, chosen: Callable[[LinkResult], bool] = _alone, state: str = "in part") -> Look:
    """Return a look at a measure on some of the links."""

    def look(comparison: Comparison, found: Sequence[LinkResult]) -> Seen | None:
        lines = [_line(comparison, each, measure) for each in found if measure in each.values and chosen(each)]
        on = "one link" if len(lines) == 1 else f"{len(lines)} links"
        return (state, f"{what}, on {on}", lines) if lines else None

    return look


_ran = partial(_measured, "throughput", state="run")


def _line(comparison: Comparison, found: LinkResult, measure: str) -> str:
    """Return each subject's mean and rank on a link, next to the reference's."""
    named, by_sender = labels(comparison), found.values[measure]
    shown = list(dict.fromkeys([*comparison.subjects, *([REFERENCE] if REFERENCE in by_sender else [])]))
    values = {cca: value_text(BY_NAME[measure], by_sender[cca]) for cca in shown}
    ranks = {cca: rank_text(found.places[measure].get(cca)) for cca in shown}
    return f"{found.link.title}: " + ", ".join(f"{named[cca]} {values[cca]} (rank {ranks[cca]})" for cca in shown)


def _queue(found: LinkResult) -> Mapping[str, object]:
    assert found.stored
    down: Mapping[str, object] = found.stored.run.meta["profile"].get("down") or {}
    queue = down.get("queue")
    return queue if isinstance(queue, Mapping) else {}


def _queued_by(kinds: Sequence[str], found: LinkResult) -> bool:
    return _queue(found).get("kind") in kinds and _alone(found)


def _reorders(found: LinkResult) -> bool:
    return bool(_queue(found).get("hold_every_pkts")) and _alone(found)


def _loses_heavily(found: LinkResult) -> bool:
    """Return whether a direction of the first trial always loses so large a share, not for a while only."""
    losses = [trial.link.table.filter(pl.col("quantity").str.ends_with(".loss_pct")) for trial in _first(found)]
    least = [table.group_by("quantity").agg(pl.col("value").min())["value"].max() for table in losses]
    return _alone(found) and any(isinstance(pct, float) and pct >= HEAVY_LOSS_PCT for pct in least)


def _first(found: LinkResult) -> Sequence[Trial]:
    assert found.stored
    return found.stored.run.trials[:1]


def _of_kind(names: Sequence[str], found: LinkResult) -> bool:
    return Path(found.link.profile).stem.split("-")[0] in names and _alone(found)


def _varies(found: LinkResult) -> bool:
    """Return whether a link's delay changes within a trial, by the steps that its first trial was given."""
    steps = [trial.link.table.filter(pl.col("quantity").str.ends_with(".delay_ms")) for trial in _first(found)]
    changes = [table.group_by("quantity").agg(pl.col("value").n_unique())["value"].max() for table in steps]
    return _alone(found) and any(isinstance(count, int) and count > 1 for count in changes)


def _is_long(found: LinkResult) -> bool:
    rtt_ms = mean_of([trial.meta["base_rtt_ms"] for trial in _first(found)])
    return _alone(found) and rtt_ms is not None and rtt_ms >= HIGH_RTT_MS


def _fairness(comparison: Comparison, found: Sequence[LinkResult]) -> Seen | None:
    """Two downloads of one sender share a link only where the rival is the subject itself."""
    shared = [each for each in found if each.link.rival in comparison.subjects and each.stored]
    lines = []
    for each in shared:
        assert each.stored
        cca = str(each.link.rival)
        rates = [
            [flow["throughput_mbps"] for flow in trial.meta["flows"]]
            for trial in each.stored.run.trials
            if trial.cca == cca and trial.valid
        ]
        if rates:
            first, second = (mean_of([pair[place] for pair in rates]) for place in (0, 1))
            shown = f"{number(first, 1)} and {number(second, 1)} Mb/s, {trials_text(len(rates))}"
            lines.append(f"{each.link.title}: {shown}")
    return ("in part", "two downloads of the same sender that begin together", lines) if lines else None


NO_SUCH = "no trial of this comparison tests it"
DESIGN = "a question about the design, which no measurement replies to"
WIRELESS = ("wifi", "lte", "5g", "leo", "geo")
CRITERIA: tuple[tuple[str, str, str, Look | None], ...] = (
    (
        "5.1.1",
        "Protection against congestion collapse",
        f"no trial with loss as heavy as {HEAVY_LOSS_PCT:g} %",
        _measured("throughput", f"one download at a loss of {HEAVY_LOSS_PCT:g} % or more", _loses_heavily),
    ),
    (
        "5.1.2",
        "Protection against bufferbloat",
        NO_SUCH,
        _measured("queueing", "mean wait at the bottleneck over one download"),
    ),
    (
        "5.1.3",
        "Protection against high packet loss",
        NO_SUCH,
        _measured("retransmits", "retransmitted segments of one download"),
    ),
    ("5.1.4", "Fairness within the proposed algorithm", "no two downloads of a subject shared a link", _fairness),
    (
        "5.1.5",
        "Short flows",
        NO_SUCH,
        _measured("object_100000", "the first 100 kB of a longer download; no flow of its own"),
    ),
    (
        "5.2.1",
        "Existing general-purpose congestion control",
        "no trial next to a CUBIC; the link wired-shared has them",
        _measured("harm", "harm to one CUBIC that begins at the same time", lambda _found: True),
    ),
    ("5.2.2", "Real-time congestion control", "no real-time flow", None),
    ("5.2.3", "Short and long flows", "no mix of short and long flows", None),
    ("5.3.1", "Differences with congestion control principles", DESIGN, None),
    ("5.3.2", "Incremental deployment", DESIGN, None),
    ("6.1", "Paths with tail-drop queues", NO_SUCH, _ran("one download", partial(_queued_by, FIFO))),
    ("6.2", "Tunnel behaviour", "no tunnel", None),
    ("6.3", "Wired paths", NO_SUCH, _ran("one download", partial(_of_kind, ("wired",)))),
    (
        "6.4",
        "Wireless paths",
        NO_SUCH,
        _ran("one download over an emulated wireless link", partial(_of_kind, WIRELESS)),
    ),
    (
        "7.1",
        "Active queue management",
        "no link with an AQM",
        _measured("throughput", "one download", partial(_queued_by, AQM)),
    ),
    ("7.2", "Network circuit breakers", "no circuit breaker", None),
    ("7.3", "Paths with varying delay", NO_SUCH, _ran("one download over a link whose delay changes", _varies)),
    ("7.4", "Internet of Things and constrained nodes", "no such node", None),
    (
        "7.5",
        "Paths with high delay",
        NO_SUCH,
        _ran(f"one download at a round trip of {HIGH_RTT_MS:g} ms or more", _is_long),
    ),
    ("7.6", "Misbehaving nodes", "no such node", None),
    (
        "7.7",
        "Extreme packet reordering",
        "no link reorders packets",
        _measured("throughput", "one download over a link that holds packets back", _reorders),
    ),
    ("7.8", "Transient events", NO_SUCH, None),
    ("7.9", "Sudden changes in the path", NO_SUCH, None),
    ("7.10", "Multipath transport", "one path only", None),
    ("7.11", "Data centers", "no such path", None),
)
