# SPDX-License-Identifier: GPL-2.0-or-later
"""Does a module do what RFC 9406 states, over the ACKs that it saw? The marks, and what names a mistake."""

from math import isinf

import polars as pl
from lab_course.assignment import sibling
from lab_course.marks import Marks
from lab_course.ran import Ran
from lab_course.work import Download, Work

from lab.figures.cwnd_rtt import Expected
from lab.report.template import Picture

rfc = sibling(__file__, "rfc9406")

FILE = "hystartpp.c"
HALF = 0.5  # of the points: the exit is right and a round is not, or all rounds are and the exit is a round off
MOST_NAMED = 3


def marks_on(work: Work, link: str, duration_s: int, number: int = 0) -> Marks:
    """Run the module over a link, and compare each round with the RFC."""
    return marks_of(work.run(FILE, link, work.seed(number), Download(duration_s)), link)


def marks_of(ran: Ran, name: str) -> Marks:
    """Compare each round of slow start, and the exit, with what the RFC makes of the same ACKs."""
    acks, own_exit = rfc.acks_of(ran)
    found = rfc.replay(acks, own_exit)
    picture = _picture(ran, found, name)
    if found.fits:
        left = f"it leaves in round {found.exit_round}" if found.exit_round else "it stays in slow start, as it should"
        return Marks(1.0, f"Every round is as RFC 9406 has it on this link, and {left}.", figures=(picture,))
    named = [rule.sentence for rule in rfc.mistakes(acks, own_exit)][:MOST_NAMED]
    behaves = f" Your module behaves like one that {', or one that '.join(named)}." if named else ""
    nearly = found.near_exit if found.first_wrong is None else found.same_exit and found.exit_round
    share = HALF if nearly else 0.0
    return Marks(share, _what(found) + behaves, _where(found, ran), (picture,))


def _picture(ran: Ran, found: object, name: str) -> Picture:
    """Draw the sender's window over that of the RFC, with a mark where the first wrong round begins."""
    wrong = found.first_wrong
    window = pl.DataFrame(found.window, schema=["t_s", "cwnd_pkts"], orient="row")
    parts = (wrong.begin_s, f"round {wrong.number}, the first that differs") if wrong else ()
    caption = "Your sender; in grey, the window that RFC 9406 has with the same ACKs."
    return ran.picture(
        f"{name}-{ran.trial.meta['seed']}", caption, expected=Expected(window, "RFC 9406, the same ACKs", *parts)
    )


def _what(found: object) -> str:
    wrong = found.first_wrong
    return _round(wrong) if wrong else _exit(found)


def _round(wrong: object) -> str:
    """Return what the RFC does in the first round that differs, and why."""
    rtt = f"In round {wrong.number} the smallest RTT is {wrong.least_us / 1000:.1f} ms"
    if not isinf(wrong.last_us):
        thresh_us = max(4000, min(wrong.last_us / 8, 16000))
        rtt += f", in the round before {wrong.last_us / 1000:.1f} ms, so that RttThresh is {thresh_us / 1000:.1f} ms"
    grown = f"Your window grows by {wrong.grown_pkts} segments for {wrong.acked_pkts} that are acknowledged"
    return f"{rtt}: RFC 9406 has {', then '.join(wrong.phases)} there. {grown}, and the RFC's by {wrong.expected_pkts}."


def _exit(found: object) -> str:
    left = (
        f"leaves by its own rule in round {found.left_round}" if found.left_round else "does not leave by its own rule"
    )
    exit_ = f"leaves in round {found.exit_round}" if found.exit_round else "does not leave so early"
    return f"All rounds up to there are right, but your sender {left}, and RFC 9406 {exit_}."


def _where(found: object, ran: Ran) -> str:
    wrong = found.first_wrong or found.rounds[-1]
    segment = (wrong.begin_bytes - 1) // ran.mss_bytes
    ack = f"the ACK of segment {segment} (byte {wrong.begin_bytes})"
    return f"Round {wrong.number} begins at {wrong.begin_s:.3f} s, with {ack}."
