# SPDX-License-Identifier: GPL-2.0-or-later
"""What `lab evaluate` keeps in results/evaluation, where it has been made."""

from pathlib import Path

import polars as pl

from lab.base.errors import UserError

FOLDER = "evaluation"


def evaluation(results: Path, name: str) -> pl.DataFrame | None:
    """One of its tables; null where it is not there yet, UserError where it is not whole."""
    file = results / FOLDER / f"{name}.parquet"
    if not file.exists():
        return None
    try:
        return pl.read_parquet(file)
    except (OSError, pl.exceptions.PolarsError):
        raise UserError(f"{file}: must be a whole Parquet table: run `lab evaluate` again") from None
