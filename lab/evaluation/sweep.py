# SPDX-License-Identifier: GPL-2.0-or-later
"""A sweep's table: of each point, sender and measure the mean with its 95 % interval; sweep.csv holds it."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from lab.base import paths
from lab.base.errors import UserError
from lab.base.plain_file import MEGABYTE, read_plain, write_whole
from lab.base.stats import AtLeast, bootstrap, mean_sd, share_pct, wilson_pct
from lab.evaluation.measures import BY_NAME, Measure, values
from lab.judge.copies import copied
from lab.judge.stored import Stored
from lab.runs.run_folder import dated_folder
from lab.tables.csv_text import to_csv

FOLDER, FILE, BOUNDS = "sweeps", "sweep.csv", "lower_bounds"  # the last: a column that earlier tables lack
MOST_BYTES = 100 * MEGABYTE
COLUMNS = ("run", "cca", "measure", "n", "mean", "lo", "hi")  # behind those of the fields
Row = dict[str, str | float | None]


def table_of(points: Sequence[tuple[Mapping[str, str], Stored]]) -> pl.DataFrame:
    """Return the table of a sweep, in the order of its points: their values by field, and their runs."""
    rows = [row for texts, stored in points for row in _rows(texts, stored)]
    schema = dict.fromkeys((*points[0][0], *COLUMNS[:3]), pl.String) | {"n": pl.Int64}
    return pl.DataFrame(rows, schema=schema | dict.fromkeys(("mean", "lo", "hi"), pl.Float64) | {BOUNDS: pl.Int64})


def _rows(texts: Mapping[str, str], stored: Stored) -> list[Row]:
    run, same = f"{stored.name}/{stored.run.path.resolve().name}", copied(stored.judged.trials)
    return [
        {**texts, "run": run, "cca": cca, "measure": name, **_estimate(BY_NAME[name], of_trials, copies=cca in same)}
        for name, by_sender in values(stored).items()
        for cca, of_trials in by_sender.items()
    ]


def _estimate(measure: Measure, of_trials: Sequence[float | None], *, copies: bool) -> Row:
    """Return mean and interval: Wilson's of a share, else resampled; null of none. Some values may be lower bounds."""
    known = [value for value in of_trials if value is not None]
    bounds = sum(isinstance(value, AtLeast) for value in known)
    if measure.binary:
        hits, trials = round(sum(known)), len(known)
        mean, (low, high) = share_pct(hits, trials), wilson_pct(hits, 0 if copies else trials)
    else:
        mean, (low, high) = mean_sd(known)[0], bootstrap(known)
    return {"n": len(known), "mean": mean, "lo": low, "hi": high, BOUNDS: bounds}


def store(scenario: str, table: pl.DataFrame) -> Path:
    """Write sweep.csv into a new folder; returns the folder."""
    folder = dated_folder(paths.results() / FOLDER / scenario)
    write_whole(folder / FILE, to_csv(table))
    return folder


def read(folder: Path) -> pl.DataFrame:
    """Read the table of a sweep; UserError where it is none."""
    file = folder / FILE
    try:
        table = pl.read_csv(io.BytesIO(read_plain(file, MOST_BYTES)))
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}: must be the table of a sweep: lab run --vary") from None
    except pl.exceptions.PolarsError:
        table = pl.DataFrame()
    if lacking := [name for name in COLUMNS if name not in table.columns]:
        raise UserError(f"{file}: {lacking[0]}=: must be a column: `lab run --vary` writes the table")
    return table


def fields_of(table: pl.DataFrame) -> list[str]:
    """Return the fields that a sweep varied: one or two."""
    return [name for name in table.columns if name not in (*COLUMNS, BOUNDS)]
