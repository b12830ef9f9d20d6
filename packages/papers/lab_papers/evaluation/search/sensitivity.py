# SPDX-License-Identifier: GPL-2.0-or-later
"""Maps of SEARCH's parameters (thesis, figures 4.10 to 4.12 and 4.15): the class of its exit at each point.

Each point is the published SEARCH 2.0 with other parameters, replayed over every download without HyStart, and judged
by the scenario's rule and by the truth.
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import polars as pl

from lab.base.stats import mean_sd, share_pct
from lab.judge.frames import Row
from lab.judge.slow_start import SlowStartExit
from lab.judge.stored import Stored
from lab.judge.summary import shares
from lab.schema.cca import search_versions
from lab.tables.columns import schema
from lab_papers.evaluation.columns import VERSIONS
from lab_papers.evaluation.search.forms import FORMS, exit_of_form
from lab_papers.evaluation.search.replay import (
    ALL_JUDGES,
    JUDGES,
    Download,
    bins_error_points,
    class_of,
    downloads,
    exit_of,
    judged,
    varied,
)
from lab_papers.search_replay import SearchParams, Version, version

WINDOWS_TENTHS = range(10, 81, 5)
THRESHOLDS_PCT = range(5, 51, 5)
BINS = (5, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40)
EXTRA_BINS = (0, 1, 3, 5, 8, 10, 12, 15, 20, 25, 30, 35, 40)
PUBLISHED = "search2"  # the code that the thesis's experiments ran
Exits = list[SlowStartExit | None]


def points(published: SearchParams) -> Iterator[tuple[str, SearchParams, bool]]:
    """Yield (map, parameters, whether the core can ever compare)."""
    for window, threshold in product(WINDOWS_TENTHS, THRESHOLDS_PCT):
        yield "window-threshold", varied(published, window_factor_tenths=window, threshold_pct=threshold).params, True
    for bins in BINS:
        yield "bins", varied(published, bins=bins).params, True
    for extra in EXTRA_BINS:
        # Without extra bins no window lies an RTT back, for an RTT is longer than a bin: the core never compares.
        yield "extra-bins", varied(published, extra_bins=max(extra, 1)).params, extra > 0


def maps(stored: Stored, library: Path) -> pl.DataFrame:
    """Return one row per point and judge; no rows without a download to replay over."""
    found = [*downloads(stored)]
    rows = []
    for name, params, compares in points(version(library, PUBLISHED).params) if found else ():
        exits = [exit_of(library, one, Version(params)) if compares else one.own for one in found]
        about = {"scenario": stored.name, "map": name, **_parameters(params, compares)}
        rows += [{**about, **_judged(found, exits, judge)} for judge in JUDGES]
    return pl.DataFrame(rows, infer_schema_length=None)


def _parameters(params: SearchParams, compares: bool) -> Row:
    """Return the parameters in the units of the maps."""
    return {
        "window_rtts": params.window_factor_tenths / 10,
        "threshold": params.threshold_pct / 100,
        "bins": params.bins,
        "extra_bins": params.extra_bins if compares else 0,
    }


def versions(stored: Stored, library: Path) -> pl.DataFrame:
    """Return one row per download, version and judge: when that version would have left, and its class."""
    rows = []
    forms = [name for name in stored.run.scenario.get("replayed", []) if name in FORMS]
    for one in downloads(stored):
        for name in (*search_versions(), *forms):
            left = exit_of_form(library, name, one)
            error = bins_error_points(library, one, name) if name == PUBLISHED else None
            rows += [_version(stored.name, name, one, left, judge, error) for judge in ALL_JUDGES]
    return pl.DataFrame(rows, schema=schema(VERSIONS))


def _version(
    scenario: str, name: str, one: Download, left: SlowStartExit | None, judge: str, error: float | None
) -> Row:
    capacity_s, exit_class = judged(one, left, judge)
    return {
        "scenario": scenario,
        "version": name,
        "trial": one.trial,
        "judge": judge,
        "exit_s": left.t_s if left else None,
        "cause": left.cause if left else None,
        "capacity_s": capacity_s,
        "loss_s": one.loss_s,
        "data_s": one.data_s,
        "exit_class": exit_class,
        "bins_error_points": error,
    }


def _judged(found: list[Download], exits: Exits, judge: str) -> Row:
    by_class = shares(class_of(one, left, judge) for one, left in zip(found, exits, strict=True))
    by_search = [left.t_s for left in exits if left and left.cause == "search"]
    never = share_pct(len(exits) - len(by_search), len(exits))
    about: Row = {"judge": judge, "downloads": len(found), "trials": by_class.pop("judged")}
    return {**about, **by_class, "never_pct": never, "exit_s": mean_sd(by_search)[0]}
