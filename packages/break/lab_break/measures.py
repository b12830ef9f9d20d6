# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sender is worst by: each measure makes one number of a link's trials, and a larger one is worse."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lab.base.choice import one_of
from lab.base.errors import field_error
from lab.judge.slow_start import BY_LOSS
from lab_break.numbers import Numbers

CRASH = 1e9  # worse than any number: a sender that gives no result on a link
REFERENCE = "cubic"  # whom harm is done to, as in lab compare (RFC 9743, 5.2.1)
Trials = Mapping[str, Numbers]  # of one link, by sender


@dataclass(frozen=True)
class Measure:
    """One choice of what is searched for."""

    name: str
    meaning: str
    unit: str
    find: float  # above which a trial is a find
    value: Callable[[str, Trials], float | None]  # of the sender, among the trials of a link
    against: str = ""  # whom it needs on the same link: rivals, reference or version


def value_of(measure: Measure, sender: str, trials: Trials) -> float | None:
    """Return a link's value: CRASH where the sender gave no result, None where the measure has none."""
    if trials[sender]["crash"]:
        return CRASH
    if any(each["crash"] or each["invalid"] for each in trials.values()):
        return None
    return measure.value(sender, trials)


def _early_s(sender: str, trials: Trials) -> float | None:
    """Return how long before the capacity slow start ended; where it was never reached, the download's end counts."""
    own = trials[sender]
    if own["exit_s"] is None or "contradiction" in own:
        return None
    return (_end_s(own) if own["capacity_s"] is None else own["capacity_s"]) - own["exit_s"]


def _early_own_s(sender: str, trials: Trials) -> float | None:
    """Return the same where the sender's own rule ended slow start; 0 where a loss or a timeout did."""
    found = _early_s(sender, trials)
    return 0.0 if found is not None and trials[sender]["exit_cause"] in BY_LOSS else found


def _late_rtts(sender: str, trials: Trials) -> float | None:
    """Return how long after the capacity it ended, in base RTTs; without an end, the download's end counts."""
    own = trials[sender]
    if own["capacity_s"] is None or "contradiction" in own:
        return None
    left_s = _end_s(own) if own["exit_s"] is None else own["exit_s"]
    return (left_s - own["capacity_s"]) * 1e3 / _rtt_ms(own)


def _throughput(sender: str, trials: Trials) -> float | None:
    own = trials[sender]["throughput_mbps"]
    best = max(each["throughput_mbps"] or 0.0 for name, each in trials.items() if name != sender)
    return best / own if own else CRASH


def _queueing_ms(sender: str, trials: Trials) -> float | None:
    return trials[sender]["wait_ms"]


def _harm_pct(sender: str, trials: Trials) -> float | None:
    """Return what CUBIC loses next to the sender, in percent of what it has next to another CUBIC."""
    left, usual = trials[sender]["rival_mbps"], trials[REFERENCE]["rival_mbps"]
    return 100 * (1 - left / usual) if left is not None and usual else None


def _differs(sender: str, trials: Trials) -> float | None:
    """Return 0 for the same packets; else 1 and by how much exit (in base RTTs) and throughput (as a share) differ."""
    own = trials[sender]
    (other,) = (each for name, each in trials.items() if name != sender)
    if own["packets"] == other["packets"]:
        return 0.0
    ends_s = [_end_s(each) if each["exit_s"] is None else each["exit_s"] for each in (own, other)]
    rates = [each["throughput_mbps"] or 0.0 for each in (own, other)]
    return 1 + abs(ends_s[0] - ends_s[1]) * 1e3 / _rtt_ms(own) + abs(rates[0] - rates[1]) / max(*rates, 1e-9)


def _end_s(numbers: Numbers) -> float:
    """Return when the download of a trial with a result ended."""
    assert numbers["end_s"] is not None
    return numbers["end_s"]


def _rtt_ms(numbers: Numbers) -> float:
    assert numbers["base_rtt_ms"]
    return numbers["base_rtt_ms"]


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("early", "slow start ended before the true queue stood", "s before", 0.5, _early_s),
        Measure(
            "early-own", "its own rule ended slow start before the true queue stood", "s before", 0.5, _early_own_s
        ),
        Measure("late", "slow start ended after the true queue stood", "base RTTs after", 3, _late_rtts),
        Measure("throughput", "the best rival's goodput, of its own", "times its own", 1.25, _throughput, "rivals"),
        Measure("queueing", "mean wait at the bottleneck", "ms", 100, _queueing_ms),
        Measure("harm", "what CUBIC loses next to it", "%", 25, _harm_pct, "reference"),
        Measure("differs", "other packets than another version of itself", "(0: the same)", 0, _differs, "version"),
    )
}


def measure_of(name: str) -> Measure:
    """Return a measure by its name."""
    if name not in MEASURES:
        raise field_error("command line", "measure", name, one_of(name, MEASURES))
    return MEASURES[name]
