# SPDX-License-Identifier: GPL-2.0-or-later
"""A grade as one page that needs no network: reasons, and the picture of each trial."""

from pathlib import Path

from lab.report.template import render
from lab_course.forms.plain import points
from lab_course.grade import Grade


def page(grade: Grade) -> str:
    """Return the page; whatever a student wrote is text there."""
    title = grade.assignment.content.title
    return render("grade.html.j2", Path(__file__).parent, grade=grade, title=title, points=points)
