# SPDX-License-Identifier: GPL-2.0-or-later
"""The map of a search: which parameters decide whether a link is bad (PED-ANOVA), and how the value follows each.

PED-ANOVA (Watanabe et al., IJCAI 2023) is optuna's form of fANOVA that compares the best links with all.
"""

import warnings
from collections.abc import Sequence

import numpy as np
import optuna
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from lab.base.plain_file import write_whole
from lab.figures.save import svg
from lab.figures.sheet import in_house_style
from lab.figures.style import canvas
from lab_break.measures import CRASH
from lab_break.request import Request
from lab_break.search import Searched, Tried, distributions

BINS = 8
FEWEST = 20  # links: below it no share of them says anything
COLUMNS = 3


def importances(searched: Searched) -> dict[str, float]:
    """Return each parameter's share in what sets the worst links apart; none of few links, or of equal ones."""
    values = {each.value for each in searched.tried if each.value is not None}
    if len(searched.tried) < FEWEST or len(values) < 2:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluator = optuna.importance.PedAnovaImportanceEvaluator()
        return dict(optuna.importance.get_param_importances(searched.study, evaluator=evaluator))


def write_map(request: Request, searched: Searched) -> dict[str, float]:
    """Write trials.csv, map.csv and map.svg; return the shares."""
    shares = importances(searched)
    _table(searched.tried).write_csv(request.folder / "trials.csv")
    names = sorted(distributions(request.bounds), key=lambda name: -shares.get(name, 0.0))
    rows = [row for name in names for row in _bins(name, request, searched.tried)]
    table = pl.DataFrame(rows, schema=["parameter", "from", "links", "mean", "worst"], orient="row", strict=False)
    table = table.with_columns(share=pl.col("parameter").replace_strict(shares, default=None, return_dtype=pl.Float64))
    table.write_csv(request.folder / "map.csv")
    write_whole(request.folder / "map.svg", svg(_figure(request, searched.tried, names, shares)))
    return shares


def _table(tried: Sequence[Tried]) -> pl.DataFrame:
    rows = [
        {"link": number, **each.point, "value": each.value, **_packets(each)} for number, each in enumerate(tried, 1)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _packets(tried: Tried) -> dict[str, str | None]:
    return {f"packets of {name}": trial["packets"] for name, trial in tried.trials.items()}


def _bins(name: str, request: Request, tried: Sequence[Tried]) -> list[tuple[str, str, int, float, float]]:
    """Return the links of each part of a parameter's range, with the mean and the largest of their values."""
    pairs = [(each.point[name], each.value) for each in tried if each.value is not None and each.value < CRASH]
    places = [_place(name, request, value) for value, _ in pairs]
    found = []
    for place in sorted(set(places)):
        values = [value for (_, value), at in zip(pairs, places, strict=True) if at == place]
        found.append((name, place[1], len(values), float(np.mean(values)), max(values)))
    return found


def _place(name: str, request: Request, value: float | str) -> tuple[int, str]:
    """Return the part of its range that a value lies in: its number and its begin."""
    bound = request.bounds.ranges.get(name)
    if bound is None or isinstance(value, str):
        return request.bounds.jitter.index(str(value)), str(value)  # type: ignore[arg-type]
    space = np.geomspace if bound.scale == "log" else np.linspace
    edges = space(bound.least, bound.most, BINS + 1)
    number = int(np.clip(np.searchsorted(edges, value, side="right") - 1, 0, BINS - 1))
    return number, f"{edges[number]:.4g}"


@in_house_style
def _figure(request: Request, tried: Sequence[Tried], names: Sequence[str], shares: dict[str, float]) -> Figure:
    """Draw each parameter's values with those of the measure, the most important first."""
    rows = -(-len(names) // COLUMNS)
    figure = canvas(1.9 * rows)
    axes = figure.subplots(rows, COLUMNS, sharey=True, squeeze=False).ravel()
    for axis in axes[len(names) :]:
        axis.set_visible(False)
    shown = [each for each in tried if each.value is not None and each.value < CRASH]
    for axis, name in zip(axes, names, strict=False):
        axis.scatter([each.point[name] for each in shown], [each.value for each in shown], s=4, color="#0072B2")
        bound = request.bounds.ranges.get(name)
        if bound and bound.scale == "log":
            axis.set_xscale("log")
            axis.xaxis.set(major_formatter=LogFormatter(), minor_formatter=LogFormatter())  # not mathematics
        axis.set_title(f"{name}: {shares[name]:.0%}" if name in shares else name)
    for axis in axes[::COLUMNS]:
        axis.set_ylabel(request.measure.unit)
    return figure
