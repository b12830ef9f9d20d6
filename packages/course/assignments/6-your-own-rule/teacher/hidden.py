# SPDX-License-Identifier: GPL-2.0-or-later
"""Hidden checks of assignment 6: the exit by the true queue, and what it costs, on links that no student has seen."""

from lab_course.assignment import sibling
from lab_course.compared import at_chokepoint, queue_ms
from lab_course.marks import Marks, none

follows, paired = sibling(__file__, "follows"), sibling(__file__, "paired")
LESS = 0.9  # of the queue, or of the losses, of a sender that waits for a loss


def check_chokepoint(work) -> Marks:
    """Each trial at the chokepoint counts alike, where the exits follow the link."""
    held, reasons, pictures = 0, [], []
    ran = [(link, each) for link in paired.HIDDEN for each in paired.on(work, link).own]
    for link, each in ran:
        if at_chokepoint(each):
            held += 1
            continue
        left = f"at {each.exit.t_s:.2f} s" if each.exit else "never"
        kind = each.truth["exit_class"] or "not judged"
        full_s = each.truth["capacity_s"]
        against = f"the queue stays filled from {full_s:.2f} s on" if full_s else "the queue never stays filled"
        reasons.append(f"{each.link.title}: your sender leaves {left} ({kind}), and {against}.")
        pictures.append(each.picture(f"{link}-{each.trial.meta['seed']}", "Your sender."))
    said = f"{held} of {len(ran)} exits are at the chokepoint. {' '.join(reasons)}".strip()
    unlike = follows.unlike(work) if held else None
    if unlike:
        return none(f"{said} {unlike}", "", *pictures)
    return Marks(held / len(ran), said, figures=tuple(pictures))


def check_queue(work) -> Marks:
    """Less queue than without any rule, and no more losses, on each link."""
    held, reasons, hits = 0, [], 0.0
    for link in paired.HIDDEN:
        compared = paired.on(work, link)
        hits += sum(map(at_chokepoint, compared.own))
        own, other = (sum(each) / len(each) for each in compared.values(queue_ms))
        resent, other_resent = _resent(compared.own), _resent(compared.other)
        less = own <= LESS * other or resent <= LESS * other_resent
        good = less and own <= other and resent <= other_resent and all(map(paired.by_rule, compared.own))
        held += good
        reasons.append(
            f"{compared.own[0].link.title}: mean wait {own:.0f} ms, without a rule {other:.0f} ms; "
            f"{resent} retransmissions, without a rule {other_resent}."
        )
    if not hits:
        return none(f"No exit is at the chokepoint: who leaves early everywhere queues least. {' '.join(reasons)}")
    if unlike := follows.unlike(work):
        return none(f"{unlike} {' '.join(reasons)}")
    return Marks(held / len(paired.HIDDEN), " ".join(reasons))


def _resent(side):
    return sum(each.trial.meta["flows"][0]["retransmits_pkts"] for each in side)
