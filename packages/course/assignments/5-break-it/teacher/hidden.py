# SPDX-License-Identifier: GPL-2.0-or-later
"""The hidden check: three links a little different, since a link that breaks at one microsecond only is luck."""

from statistics import median

from lab_course.assignment import sibling
from lab_course.marks import Marks, none
from lab_course.seeds import public_seed
from lab_course.work import Work

checks, wrongness = sibling(__file__, "checks"), sibling(__file__, "wrongness")
LINKS = 3


def check_no_luck(work: Work) -> Marks:
    """The median exit over the varied links is wrong as well."""
    link, found = checks.fair_link(work), []
    seen = public_seed(work.assignment.name, work.student)
    if not wrongness.fills(work.run(wrongness.PLAIN, link, seen, wrongness.DOWNLOAD)):
        return none("Nothing counts on a link that no sender fills.")
    for number in range(LINKS):
        varied = wrongness.varied(link, work.seed(number))
        found.append(wrongness.measure(work.run(wrongness.sender(work), varied, work.seed(number), wrongness.DOWNLOAD)))
    share = median(each.share for each in found)
    directions = ", ".join(each.direction for each in found)
    hint = (
        "" if share else " The median of these is not wrong: find a link where a little more or less changes nothing."
    )
    return Marks(share, f"Rate and delay differ by up to 5 %: {directions}.{hint}")
