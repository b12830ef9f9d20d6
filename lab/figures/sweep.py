# SPDX-License-Identifier: GPL-2.0-or-later
"""A measure over a field that `lab run --vary` varied: a line per sender with its intervals; over two, a heat map each.

Drawn from a sweep's sweep.csv.
"""

from textwrap import fill

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Transform, offset_copy

from lab.base.format import AT_LEAST, trials_text
from lab.base.stats import largest, smallest
from lab.evaluation.measures import BY_NAME
from lab.evaluation.sweep import BOUNDS, fields_of
from lab.figures.page_figure import Given, PageFigure, Place
from lab.figures.sheet import chars, in_house_style, is_narrow, small_pt
from lab.figures.style import Drawing, Look, Sender, canvas, key_above
from lab.schema.cca import load_senders, looks

APART_PT = 3.0  # senders stand side by side: of equal ones the last would hide the others


@in_house_style
def figure(table: pl.DataFrame, label: str) -> Figure:
    """Draw one measure of a sweep."""
    known = senders_of(table)
    first, *second = fields_of(table)
    return _heat_maps(table, label, known, first, second[0]) if second else _lines(table, label, known, first)


def senders_of(table: pl.DataFrame) -> list[Sender]:
    """Return the senders of a sweep; one of a user's file, whose stanza no table has, with a look that is free."""
    names = table["cca"].unique(maintain_order=True).to_list()
    lab = {name: cca for name, cca in load_senders().items() if name in names}
    free = looks({cca.look for cca in lab.values()})
    own = {cca.name: Sender(cca.name, cca.label, cca.colour, cca.marker, cca.linestyle) for cca in lab.values()}
    return [own[name] if name in own else Sender(name, name, **next(free)) for name in names]


def _lines(table: pl.DataFrame, label: str, senders: list[Sender], field: str) -> Figure:
    drawn = canvas(3.0)
    axis = drawn.subplots()
    apart_pt = min(APART_PT, 36 * drawn.get_figwidth() / (table[field].n_unique() * len(senders)))
    for index, sender in enumerate(senders):
        right_pt = apart_pt * (index - (len(senders) - 1) / 2)
        beside = offset_copy(axis.transData, drawn, right_pt, units="points")
        _line(axis, table.filter(cca=sender.name), field, sender, beside)
    axis.set(xlabel=field, ylabel=_upright(label, drawn))
    key_above(drawn, *axis.get_legend_handles_labels())
    return drawn


def _upright(label: str, drawn: Figure) -> str:
    """Break the label of a vertical axis to the height of the figure."""
    return fill(label, chars(0.7 * drawn.get_figheight(), small_pt()))


def _line(axis: Axes, table: pl.DataFrame, field: str, sender: Sender, beside: Transform) -> None:
    """Draw a sender's means beside those of the others, with its interval as a bar where there is one."""
    rows = table.sort(field) if table[field].dtype.is_numeric() else table
    means = rows["mean"].cast(pl.Float64)
    bars = np.nan_to_num(np.clip([means - rows["lo"].cast(pl.Float64), rows["hi"].cast(pl.Float64) - means], 0, None))
    look: Look = {"color": sender.colour, "marker": sender.marker, "linestyle": sender.linestyle}
    drawn = axis.errorbar(rows[field], means, bars, label=sender.label, elinewidth=0.8, capsize=1.5, **look)
    for part in drawn.get_children():
        part.set_transform(beside)  # now: limits follow from what is drawn in data's own place alone


def _heat_maps(table: pl.DataFrame, label: str, senders: list[Sender], across: str, up: str) -> Figure:
    drawn = canvas(3.0 * len(senders) if is_narrow() else 3.2)
    places = (len(senders), 1) if is_narrow() else (1, len(senders))
    axes = drawn.subplots(*places, sharex=True, sharey=True, squeeze=False).ravel()
    lowest, highest = smallest(table["mean"]), largest(table["mean"])
    for axis, sender in zip(axes, senders, strict=True):
        columns, rows, cells = _grid(table.filter(cca=sender.name), across, up)
        shown = axis.imshow(cells, vmin=lowest, vmax=highest, cmap="cividis", origin="lower", aspect="auto")
        axis.set_xticks(range(len(columns)), columns)
        axis.set_yticks(range(len(rows)), rows)
        axis.set(title=sender.label, xlabel=across)
        axis.grid(False)
    axes[0].set_ylabel(up)
    drawn.colorbar(shown, ax=list(axes), label=_upright(label, drawn), pad=0.02, aspect=30)
    return drawn


def _grid(table: pl.DataFrame, across: str, up: str) -> tuple[list[str], list[str], npt.NDArray[np.float64]]:
    """Return the values of both fields in their order, and the means by both; a cell of no trial is empty."""
    columns, rows = (_in_order(table[field]) for field in (across, up))
    found = {(x, y): mean for x, y, mean in table.select(across, up, "mean").rows()}
    cells = [[found.get((x, y)) for x in columns] for y in rows]
    return [str(x) for x in columns], [str(y) for y in rows], np.array(cells, dtype=np.float64)


def _in_order(values: pl.Series) -> list[object]:
    once = values.unique(maintain_order=True)
    return list(once.sort() if once.dtype.is_numeric() else once)


def draw(sweep: pl.DataFrame, measure: str) -> Drawing | None:
    """Draw a measure of a sweep; none where no trial has it."""
    table = sweep.filter(measure=measure)
    if table["mean"].drop_nulls().is_empty():
        return None
    found, most = BY_NAME[measure], largest(table["n"]) or 0
    label, over = f"{found.title} ({found.unit})", " and ".join(fields_of(sweep))
    what = f"{found.title}: {found.meaning}, over {over}; mean of up to {trials_text(int(most))}"
    what += " with its 95 % interval" if table["lo"].count() else ""
    places = "; ".join(
        f"{row['cca']} at {', '.join(str(row[name]) for name in fields_of(sweep))}: "
        f"{AT_LEAST if row.get(BOUNDS) else ''}{row['mean']:.3g}"
        for row in table.filter(pl.col("mean").is_not_null()).to_dicts()
    )
    empty = table.group_by("cca", maintain_order=True).agg(pl.col("mean").is_null().all()).filter("mean")["cca"]
    what += f". Without any value: {', '.join(empty)}" if len(empty) else ""
    return Drawing(figure(table, label), f"{what}.", f"{what}. {places}.")


FIGURE = PageFigure("sweep", Place.NO_PAGE, draw, of=Given.SWEEP)
