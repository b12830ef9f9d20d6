# SPDX-License-Identifier: GPL-2.0-or-later
"""The hidden check: three links a little different, since a link that breaks at one microsecond only is luck."""

from dataclasses import replace
from statistics import median

from lab_course.assignment import sibling
from lab_course.marks import Marks, none
from lab_course.seeds import public_seed
from lab_course.work import Work

checks, wrongness = sibling(__file__, "checks"), sibling(__file__, "wrongness")
LINKS = 3
# What is said of one link needs no other one; of a rule that is wrong by itself it does not count.
REASON = {"reason": 1.0}


def check_no_luck(work: Work) -> Marks:
    """The median exit over the varied links is wrong as well."""
    link, found = checks.fair_link(work), []
    seen = public_seed(work.assignment.name, work.student)
    if not wrongness.fills(work.run(wrongness.PLAIN, link, seen, wrongness.DOWNLOAD)):
        return replace(none("Nothing counts on a link that no sender fills."), confirms=REASON)
    rule = wrongness.sender(work, link)
    for number in range(LINKS):
        varied = wrongness.varied(link, work.seed(number))
        found.append(wrongness.measure(work.run(rule, varied, work.seed(number), wrongness.DOWNLOAD)))
    share = median(each.share for each in found)
    directions = ", ".join(each.direction for each in found)
    hint = (
        "" if share else " The median of these is not wrong: find a link where a little more or less changes nothing."
    )
    return Marks(share, f"Rate and delay differ by up to 5 %: {directions}.{hint}", confirms=REASON)
