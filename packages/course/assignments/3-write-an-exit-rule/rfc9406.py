# SPDX-License-Identifier: GPL-2.0-or-later
"""HyStart++ as RFC 9406 states it, and as typical mistakes have it, over the ACKs that a sender's kernel saw.

A sender's window changes with each ACK by what its rule decides from that ACK. So the rule is replayed over the
sender's own ACKs, and the growth that it predicts is compared with the growth of the window, round by round. Where the
two part first is the packet that matters. A mistake that predicts every round is most likely the one that was made.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from math import inf
from typing import Any

from lab_course.ran import Ran

L_PKTS = 8
SPARE_PKTS = 2.0  # of the growth of a round: what CSS keeps for the next ACK, or drops
SLACK_US = (0.0, -20.0, 20.0)  # the RTT of an ACK follows from the smoothed one, which the trace rounds
MS = 1000.0


@dataclass(frozen=True)
class Rule:
    """The constants of the RFC, and what else a module may do instead; `sentence` names a mistake."""

    sentence: str = ""
    least_us: float = 4000
    most_us: float = 16000
    divisor: float = 8
    samples: int = 8
    growth_divisor: float = 4
    css_rounds: int = 5
    resumes: bool = True
    against_base: bool = False  # the smallest RTT of all rounds instead of that of the last round
    has_css: bool = True
    whole_growth: bool = False  # each ACK's growth rounded down to whole segments
    first_sample: bool = False  # the first RTT of a round instead of its smallest
    against_last: bool = False  # CSS compares with the last round instead of the baseline
    keeps_rounds: bool = False  # a second CSS goes on counting where the first one ended
    slack_us: tuple[float, float] = (0.0, 0.0)  # of both comparisons: CSS begins, CSS ends


RFC = Rule()
MISTAKES = (
    Rule("leaves at once where the RFC begins conservative slow start (CSS)", has_css=False),
    Rule("has a threshold without its limits: it must be an eighth of the last round's smallest RTT, but at least 4 ms "
         "and at most 16 ms", least_us=0, most_us=inf),
    Rule("has a threshold without its lower limit of 4 ms", least_us=0),
    Rule("has a threshold without its upper limit of 16 ms", most_us=inf),
    Rule("has a fixed threshold of 4 ms instead of an eighth of the last round's smallest RTT", most_us=4000),
    Rule("decides before a round has N_RTT_SAMPLE (8) samples", samples=1),
    Rule("grows in CSS as fast as before: CSS_GROWTH_DIVISOR is missing", growth_divisor=1),
    Rule("does not grow in CSS: a quarter of one segment is rounded down to 0, so keep the rest for the next ACK",
         whole_growth=True),
    Rule("never goes back to slow start: CSS must end where the smallest RTT falls below the baseline", resumes=False),
    Rule("compares with the smallest RTT of all rounds instead of that of the last round", against_base=True),
    Rule("compares in CSS with the last round instead of with the baseline of when CSS began", against_last=True),
    Rule("goes on counting CSS rounds where an earlier CSS ended: begin at 0 again", keeps_rounds=True),
    Rule("leaves after 1 round of CSS instead of 5", css_rounds=1),
    Rule("leaves after 4 rounds of CSS instead of 5", css_rounds=4),
    Rule("leaves after 6 rounds of CSS instead of 5", css_rounds=6),
    Rule("never leaves by its own rule", css_rounds=10**9),
    Rule("never begins CSS: it doubles its window until a packet is lost", samples=10**9),
    Rule("uses the first RTT of a round instead of its smallest", first_sample=True),
)  # fmt: skip


@dataclass(frozen=True)
class Ack:
    """One ACK of new data, in slow start: the socket after it but for snd_nxt, and how the window grew."""

    t_s: float
    una_bytes: int
    nxt_bytes: int
    rtt_us: float
    acked_pkts: int
    growth_pkts: int
    cwnd_pkts: int = 0  # before it


@dataclass
class Round:
    """One round of a replay."""

    number: int
    begin_s: float
    begin_bytes: int  # what the ACK that began it had acknowledged
    last_us: float  # smallest RTT of the round before
    acks: int = 0
    least_us: float = inf
    grown_pkts: float = 0.0
    expected_pkts: float = 0.0
    acked_pkts: int = 0
    phases: list[str] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        """Whether the window grew as the rule predicts."""
        return abs(self.grown_pkts - self.expected_pkts) <= SPARE_PKTS


@dataclass(frozen=True)
class Replay:
    """A rule over a sender's ACKs: its rounds up to the exit of either, and the round in which each left."""

    rounds: list[Round]
    exit_round: int | None  # of the rule
    left_round: int | None  # of the sender
    css_rounds: int  # of the rule, complete when the replay ended
    window: list[tuple[float, float]] = field(default_factory=list)  # of the rule: seconds, packets after each ACK

    @property
    def first_wrong(self) -> Round | None:
        """The first round in which the window grew otherwise."""
        return next((each for each in self.rounds if not each.agrees), None)

    @property
    def same_exit(self) -> bool:
        """Whether both left in the same round, or neither did."""
        return self.exit_round == self.left_round

    @property
    def near_exit(self) -> bool:
        """Whether both left within one round of each other."""
        if self.exit_round is None:
            return self.left_round is not None and self.css_rounds >= RFC.css_rounds - 1
        return self.same_exit or self.left_round is None

    @property
    def fits(self) -> bool:
        """Whether the rule explains all that the sender did."""
        return self.same_exit and self.first_wrong is None


def acks_of(ran: Ran) -> tuple[list[Ack], bool]:
    """Return the ACKs of slow start, and whether the sender's own rule ended it (not a loss, and not the end)."""
    mss, until_s = ran.mss_bytes, ran.exit.t_s + 1e-5 if ran.exit else inf
    names = ("t_s", "snd_una_bytes", "snd_nxt_bytes", "srtt_ms", "cwnd_pkts")
    found = []
    for (t_s, una, nxt, srtt, cwnd), (_, una_after, _, srtt_after, cwnd_after) in pairwise(
        ran.acks.select(names).iter_rows()
    ):
        if t_s > until_s:
            break
        if una_after > una > 0 and una_after > 1:
            rtt_us = (8 * srtt_after - 7 * srtt) * MS
            found.append(Ack(t_s, una_after, nxt, rtt_us, round((una_after - una) / mss), cwnd_after - cwnd, cwnd))
    own = ran.exit is not None and ran.exit.cause not in ("loss", "timeout", "other")
    return found, own


class Sender:
    """One flow of a rule."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.last_us = self.current_us = self.baseline_us = self.base_us = inf
        self.samples = self.css_rounds = 0
        self.in_css, self.rest = False, 0.0

    def next_round(self) -> None:
        """End a round."""
        self.last_us, self.current_us, self.samples = self.current_us, inf, 0
        self.base_us = min(self.base_us, self.last_us)
        self.css_rounds += self.in_css

    def sample(self, rtt_us: float) -> None:
        """Take an RTT sample in."""
        rule = self.rule
        self.samples += 1
        if not (rule.first_sample and self.samples > 1):
            self.current_us = min(self.current_us, rtt_us)
        if self.samples < rule.samples:
            return
        if not self.in_css:
            before = self.base_us if rule.against_base else self.last_us
            thresh_us = max(rule.least_us, min(before / rule.divisor, rule.most_us))
            if before < inf and self.current_us >= before + thresh_us + rule.slack_us[0]:
                self.in_css, self.baseline_us, self.rest = True, self.current_us, 0.0
                self.css_rounds = self.css_rounds if rule.keeps_rounds else 0
        elif (
            rule.resumes
            and self.current_us < (self.last_us if rule.against_last else self.baseline_us) + rule.slack_us[1]
        ):
            self.in_css = False

    def leaves(self) -> bool:
        """Whether the rule leaves slow start now."""
        return self.in_css and (not self.rule.has_css or self.css_rounds >= self.rule.css_rounds)

    def growth_pkts(self, acked_pkts: int) -> float:
        """By how much the window grows."""
        counted = min(acked_pkts, L_PKTS)
        if not self.in_css:
            return counted
        if self.rule.whole_growth:
            return counted // self.rule.growth_divisor
        self.rest += counted / self.rule.growth_divisor
        whole = int(self.rest)
        self.rest -= whole
        return whole


def replay(acks: list[Ack], own_exit: bool, rule: Rule = RFC) -> Replay:
    """Replay a rule; where two RTTs are equal but for the rounding of the trace, the comparison that fits counts."""
    exact = _replay(acks, own_exit, rule)
    if exact.fits:
        return exact
    slack = [replace(rule, slack_us=(begin, end)) for begin in SLACK_US for end in SLACK_US if begin or end]
    return next((found for each in slack if (found := _replay(acks, own_exit, each)).fits), exact)


def _replay(acks: list[Ack], own_exit: bool, rule: Rule) -> Replay:
    """Replay a rule over the ACKs of a sender, until one of the two leaves."""
    sender = Sender(rule)
    end = acks[0].nxt_bytes if acks else 0
    rounds = [Round(1, acks[0].t_s if acks else 0.0, 1, inf)]
    exit_round = None
    window = [(acks[0].t_s, float(acks[0].cwnd_pkts))] if acks else []
    for number, ack in enumerate(acks):
        last = number == len(acks) - 1
        beyond = ack.una_bytes - end
        if beyond > 0:
            end = _next_round(sender, rounds, ack)
        sender.sample(ack.rtt_us)
        _count(rounds[-1], ack, sender)
        if beyond == 0:
            end = _next_round(sender, rounds, ack)
        if sender.leaves():
            exit_round = len(rounds)
            break
        if not (last and own_exit):  # the ACK of the exit grows by another rule
            expected_pkts = sender.growth_pkts(ack.acked_pkts)
            window.append((ack.t_s, window[-1][1] + expected_pkts))
            rounds[-1].expected_pkts += expected_pkts
            rounds[-1].grown_pkts += ack.growth_pkts
    ended = number == len(acks) - 1 if acks else True
    left_round = len(rounds) if own_exit and ended else None
    return Replay(rounds, exit_round, left_round, sender.css_rounds, window)


def _next_round(sender: Sender, rounds: list[Round], ack: Ack) -> int:
    sender.next_round()
    rounds.append(Round(len(rounds) + 1, ack.t_s, ack.una_bytes, sender.last_us))
    return ack.nxt_bytes


def _count(found: Round, ack: Ack, sender: Sender) -> None:
    found.acks += 1
    found.acked_pkts += ack.acked_pkts
    found.least_us = min(found.least_us, ack.rtt_us)
    phase = "CSS" if sender.in_css else "slow start"
    if not found.phases or found.phases[-1] != phase:
        found.phases.append(phase)


def mistakes(acks: list[Ack], own_exit: bool) -> list[Rule]:
    """Return the mistakes that explain all that the sender did; where no single one does, the pairs that do."""
    single = [rule for rule in MISTAKES if replay(acks, own_exit, rule).fits]
    return single or [rule for rule in _pairs() if _replay(acks, own_exit, rule).fits]


def _pairs() -> Iterator[Rule]:
    """Yield two mistakes at once, of those that change different parts of the rule."""
    for one, other in combinations(MISTAKES, 2):
        changed, more = _changed(one), _changed(other)
        if not changed.keys() & more.keys():
            yield Rule(f"{one.sentence}, and {other.sentence}", **changed, **more)


def _changed(rule: Rule) -> dict[str, Any]:
    own = vars(rule)
    return {name: value for name, value in own.items() if name != "sentence" and value != vars(RFC)[name]}
