# SPDX-License-Identifier: GPL-2.0-or-later
"""What `lab evaluate` keeps in results/evaluation, where it has been made."""

import io
from pathlib import Path

import polars as pl

from lab.base import seal
from lab.base.errors import UserError
from lab.tables.digests import SUMS, checked, read_digests
from lab_papers.evaluation.kept import FOLDER, is_own

AGAIN = "run `lab evaluate` again"


def evaluation(results: Path, name: str) -> pl.DataFrame | None:
    """One of its tables; null where it is not there yet, UserError where it is damaged or a stranger's."""
    file = results / FOLDER / f"{name}.parquet"
    if not file.exists():
        return None
    if not is_own(results):
        cached, temporary = seal.places()
        made = f"made by this user's lab (its key lies in {cached}, else in {temporary})"
        raise UserError(f"{file}: must be {made}, of the runs that are stored here: {AGAIN}")
    try:
        return pl.read_parquet(io.BytesIO(checked(file, read_digests(file.parent / SUMS))))
    except UserError as error:
        raise UserError(f"{error}: {AGAIN}") from None
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise UserError(f"{file}: must be a whole Parquet table: {AGAIN}") from None
