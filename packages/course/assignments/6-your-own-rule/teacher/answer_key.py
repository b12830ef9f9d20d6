# SPDX-License-Identifier: GPL-2.0-or-later
"""The solution's report of one student: that of the teacher, with the table of the student's own draws."""

from lab_course.assignment import sibling
from lab_course.rehearse import show
from lab_course.work import Work

paired, report = sibling(__file__, "paired"), sibling(__file__, "report")


def files(work: Work) -> dict[str, str]:
    """Return the files of the solution that follow from the student's draws."""
    text = work.source(report.FILE)
    begin = text.index("| link |")
    end = text.index("\n\n", begin)
    return {report.FILE: text[:begin] + paired.table(paired.rows(work)) + text[end:]}


if __name__ == "__main__":
    show(__file__, files)
