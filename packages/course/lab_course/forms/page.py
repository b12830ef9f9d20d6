# SPDX-License-Identifier: GPL-2.0-or-later
"""A grade as one page that needs no network: reasons, and the picture of each trial."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lab.report.template import own_style
from lab_course.forms.plain import points
from lab_course.grade import Grade


def page(grade: Grade) -> str:
    """Return the page; whatever a student wrote is text there."""
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.get_template("page.html.j2")
    title = grade.assignment.content.title
    return template.render(style=own_style("page.css"), grade=grade, title=title, points=points)
