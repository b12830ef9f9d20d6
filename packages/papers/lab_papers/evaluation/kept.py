# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables that `lab evaluate` keeps: where they lie, whose they are, which runs are newer, and how one is read."""

import io
from collections.abc import Collection
from pathlib import Path

import polars as pl

from lab.base import seal
from lab.base.errors import UserError
from lab.base.named_files import scenario_files
from lab.base.plain_file import MEGABYTE
from lab.runs.run_folder import LATEST
from lab.schema.scenario import load_scenario, scenarios
from lab.tables.digests import SUMS, checked, read_digests, write_digests

FOLDER = "evaluation"
LAST = "claims.parquet"  # the table that is written last
AGAIN = "run `lab evaluate` again"


def newer_runs(results: Path, names: Collection[str] | None = None) -> list[str]:
    """Name the scenarios (of some, or of all) whose latest run changed after the tables were written."""
    file = results / FOLDER / LAST
    return changed_since(results, file.stat().st_mtime if file.exists() else 0.0, names)


def changed_since(results: Path, time_s: float, names: Collection[str] | None = None) -> list[str]:
    """Name the scenarios (of some, or of all) whose latest run changed after a time."""
    latest = {link.parent.name: link for link in sorted(results.glob(f"*/{LATEST}"))}
    wanted = [name for name in latest if names is None or name in names]
    return [name for name in wanted if _changed_s(latest[name]) > time_s]


def with_counterfactuals(names: Collection[str]) -> list[str]:
    """Return scenarios with those that vary them, and those that their claims pool with them."""
    known = scenario_files()
    pooled = [other for name in names if name in known for row in load_scenario(name)[1].claims for other in row.pooled]
    return [*names, *pooled, *(name for name in scenarios() if load_scenario(name)[1].counterfactual_of in names)]


def _changed_s(latest: Path) -> float:
    """Return when a run last became the latest, got a trial or ended."""
    parts = [part for part in (latest / "run.json", latest / "trials") if part.exists()]
    return max([latest.lstat().st_mtime, *(part.stat().st_mtime for part in parts)])


def sign(folder: Path) -> None:
    """Write the digests of all tables, and a seal: they are what this user's lab made of the runs."""
    folder.joinpath(f"{SUMS}.seal").unlink(missing_ok=True)
    write_digests(folder)
    seal.keep(folder / SUMS, (folder / SUMS).read_bytes())


def is_own(results: Path) -> bool:
    """Return whether this user's lab made the tables: a stranger's state what no run may show."""
    return seal.kept(results / FOLDER / SUMS, MEGABYTE) is not None


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
