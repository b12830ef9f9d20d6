# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of a run's page in the requested forms, drawn by processes next to each other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from lab.base.workers import each_in_processes
from lab.judge.representative import representatives
from lab.judge.stored import Stored
from lab.report.report_files import FORMS
from lab.report.template import Picture, picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEW = 2  # parts for each process: to start one takes as long as to draw three figures


@dataclass(frozen=True)
class Drawn:
    """A figure in its forms; `cca` and `trial` are null for the whole run."""

    name: str
    picture: Picture
    contents: dict[str, str | bytes]  # by form
    cca: str | None = None
    trial: int | None = None


@dataclass(frozen=True)
class Part:
    """What one process draws: the figures of one sender's trial, or with null those over all trials."""

    stored: Stored
    cca: str | None


def parts_of(stored: Stored) -> list[Part]:
    """Return the parts of a page: over all trials, and of each sender with a valid one."""
    shown = representatives(stored.judged.outcomes)
    return [Part(stored, cca) for cca in (None, *(each["name"] for each in stored.ccas if each["name"] in shown))]


def draw(parts: list[Part], forms: frozenset[str]) -> Iterator[list[Drawn]]:
    """Yield the figures of each part, in the order of the parts."""
    return each_in_processes(partial(_draw, forms=forms), parts, FEW)


def _draw(part: Part, forms: frozenset[str]) -> list[Drawn]:
    from lab.figures import save  # here: the process that waits for the figures loads no matplotlib
    from lab.report import figures

    by_form: dict[str, Callable[[Figure, str], str | bytes]] = {"svg": save.svg, "png": save.png, "pdf": save.pdf}
    found = figures.over_all_trials(part.stored) if part.cca is None else figures.per_sender(part.stored, part.cca)
    drawn = []
    for each in found:
        drawing = each.drawing
        contents = {form: by_form[form](drawing.figure, drawing.about) for form in FORMS if form in forms}
        shown = picture(each.name, str(contents[FORMS[0]]), drawing.alt, drawing.caption)
        drawn.append(Drawn(each.name, shown, contents, each.cca, each.trial))
    return drawn
