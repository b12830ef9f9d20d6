# SPDX-License-Identifier: GPL-2.0-or-later
"""A published value as a sentence, with its unit, and the form of the sender that it is compared with."""

from functools import cache

from lab.schema.cca import load_ccas
from lab.tables.records import ClaimRecord
from lab_papers.evaluation.claims.estimate import SPREAD
from lab_papers.evaluation.claims.verdict import BOUNDS
from lab_papers.evaluation.search.forms import FORMS
from lab_papers.search_replay import EXTRA_BINS

SENTENCES = {
    "early_pct": "{who} leaves slow start before the link is full in {value} % of downloads",
    "chokepoint_pct": "{who} leaves slow start after the link is full and before a loss in {value} % of downloads",
    "late_pct": "{who} leaves slow start only upon a loss in {value} % of downloads",
    "timely_pct": "{who} leaves slow start no earlier than the link is full in {value} % of downloads",
    "capacity_s": "with {who}, the link is full after {value} s",
    "loss_s": "with {who}, the first loss comes after {value} s",
    "exit_s": "{who} leaves slow start after {value} s",
    "headroom_s": "{who} leaves slow start {value} s before the first loss",
    "throughput_mbps": "{who} downloads at {value} Mb/s",
    "median_mbps": "the median throughput of {who} is {value} Mb/s",
    "exit_bitrate_mbps": "{who} leaves slow start at {value} Mb/s",
    "retransmits_pkts": "{who} loses {value} packets",
    "throughput_ratio": "beside {who}, the rival gets {value} times its throughput",
    "retransmits_ratio": "beside {who}, the rival has {value} times its retransmissions",
    "rtt_ratio": "beside {who}, the rival sees {value} times its round trip",
    "startup_ratio": "beside {who}, the rival gets {value} times its throughput in the first 10 s",
    "detection_rtts": "{who} leaves slow start {value} round trips of the empty path after the link is full",
    "after_capacity_s": "{who} leaves slow start {value} s after the link is full",
    "download_20mb_s": "{who} downloads 20 MB in {value} s",
    "bins_error_points": "counting in bins changes the normalised difference of {who} by {value} points on average",
    "bins_suffice_pct": f"{EXTRA_BINS} extra bins let {{who}} look one round trip back in {{value}} % of downloads",
    "capacity_found_pct": "the rule finds when the link is full in {value} % of the downloads of {who}",
    "largest_rtt_s": "the largest round trip in slow start of {who} is {value} s over all downloads",
    "largest_rtt_ratio": "in slow start of {who} the round trip grows to at most {value} times the first one",
    "rtt_cycle_hz": "round trips in slow start of {who} swing at {value} Hz",
    "overhead_pct": "{who} adds {value} % to the static memory of a socket",
}
# Of a metric that is given relative to another sender.
QUANTITIES = {
    "exit_s": "time in slow start",
    "capacity_s": "time until the link is full",
    "throughput_mbps": "throughput",
    "retransmits_pkts": "number of lost packets",
    "download_20mb_s": "time to download 20 MB",
}
UNITS = {
    "pct": "%",
    "s": "s",
    "mbps": "Mb/s",
    "pkts": "packets",
    "ratio": "times",
    "rtts": "RTTs",
    "points": "points",
    "hz": "Hz",
}


def sentence(metric: str, stated: float, who: str, profile: str, bound: str | None, relative_to: str | None) -> str:
    """Return what a source states as a sentence: a value, or a bound; of a sender, or of it relative to another."""
    value = f"{BOUNDS[bound]} {stated:g}" if bound else f"{stated:g}"
    spread = metric.endswith(SPREAD)
    if relative_to:
        words = f"the {QUANTITIES[metric]} of {_label(who)} is {value} times that of {_label(relative_to)}"
    else:
        words = SENTENCES[metric.removesuffix(SPREAD)].format(who=_label(who), value="x" if spread else value)
    if spread:
        words += f", where x has a standard deviation of {value} {unit(metric)} over downloads"
    return f"{words[0].upper()}{words[1:]} ({profile})."


def short(value: float) -> str:
    """Return a number with three digits, or with all digits before the point."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def unit(metric: str) -> str:
    """Return the unit of a metric, from its name."""
    return UNITS[metric.removesuffix(SPREAD).rsplit("_", 1)[1]]


def form(claims: ClaimRecord) -> str:
    """Name the form of the sender that a row is compared with, and whether it sent or was replayed."""
    if other := claims.get("relative_to"):
        return f"{_label(claims['cca'])}, relative to {_label(other)}"
    if version := claims.get("replayed"):
        return f"{_label(version)}, replayed over {_label(claims['cca'])}"
    return _label(claims["cca"])


def _label(name: str) -> str:
    return _labels().get(name, name)


@cache
def _labels() -> dict[str, str]:
    known = {name: cca.label for name, cca in load_ccas().items()}
    return known | {name: form.label for name, form in FORMS.items()}
