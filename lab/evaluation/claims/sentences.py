# SPDX-License-Identifier: GPL-2.0-or-later
"""A published value as a sentence, with its unit, and the form of the sender that it is compared with."""

from functools import cache

from lab.evaluation.claims.estimate import SPREAD
from lab.evaluation.search.forms import FORMS
from lab.schema.cca import load_ccas
from lab.tables.records import ClaimRecord

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
}
UNITS = {"pct": "%", "s": "s", "mbps": "Mb/s", "pkts": "packets", "ratio": "times"}


def sentence(metric: str, who: str, value: float, profile: str) -> str:
    """Return a published value as a sentence."""
    spread = metric.endswith(SPREAD)
    words = SENTENCES[metric.removesuffix(SPREAD)].format(who=_label(who), value="x" if spread else f"{value:g}")
    if spread:
        words += f", where x has a standard deviation of {value:g} {unit(metric)} over downloads"
    return f"{words[0].upper()}{words[1:]} ({profile})."


def short(value: float) -> str:
    """Return a number with three digits, or with all digits before the point."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def unit(metric: str) -> str:
    """Return the unit of a metric, from its name."""
    return UNITS[metric.removesuffix(SPREAD).rsplit("_", 1)[1]]


def form(claims: ClaimRecord) -> str:
    """Name the form of the sender that a row is compared with, and whether it sent or was replayed."""
    if version := claims.get("replayed"):
        return f"{_label(version)}, replayed over {_label(claims['cca'])}"
    return _label(claims["cca"])


def _label(name: str) -> str:
    return _labels().get(name, name)


@cache
def _labels() -> dict[str, str]:
    known = {name: cca.label for name, cca in load_ccas().items()}
    return known | {name: form.label for name, form in FORMS.items()}
