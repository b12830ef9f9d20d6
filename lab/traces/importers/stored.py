# SPDX-License-Identifier: GPL-2.0-or-later
"""Parquet: the lab's own recordings, and FjordLink's dumps of a Starlink dish and of 5G routers."""

from pathlib import Path

import polars as pl

from lab.base.errors import field_error
from lab.traces import recording
from lab.traces.importers.clock import dated, ordered, with_holes
from lab.traces.importers.importer import Head, Importer
from lab.traces.importers.starlink import DOWN, USAGE, dish_columns
from lab.traces.importers.table import Table
from lab.traces.parquet import MAGIC, parquet_errors
from lab.traces.recording import Recording

CLOCK = "@timestamp"
DISH = "dish_status."
RECEIVED, SENT = "lte.lrxbitspersecond", "lte.ltxbitspersecond"


def fits(head: Head) -> bool:
    """Recognise the lab's own metadata."""
    return head.data.startswith(MAGIC) and recording.is_recording(head.path)


def fits_fjordlink(head: Head) -> bool:
    """Recognise the column names of either dump."""
    names = _names(head.path) if head.data.startswith(MAGIC) else set()
    return CLOCK in names and (DISH + DOWN in names or RECEIVED in names)


def read_fjordlink(path: Path, *, router: str | None = None) -> Recording:
    """Read a dump, a row a second; `router` picks one of several that report into the same file."""
    names = _names(path)
    table = _table(
        path, [name for name in names if name in (CLOCK, "identity", RECEIVED, SENT) or name.startswith(DISH)]
    )
    if DISH + DOWN not in names:
        return _router(path, table, router)
    if router is not None:
        raise field_error(path, "router", router, "left out: this is a dish's dump")
    return _recording(path, table, dish_columns(table, DISH), ())


def _router(path: Path, table: Table, router: str | None) -> Recording:
    identity = table.text("identity")
    known = sorted(set(identity.to_list()))
    router = known[0] if router is None and len(known) == 1 else router
    if router not in known:
        raise field_error(path, "router", router, f"given, one of {', '.join(known)}")
    one = table.only(identity == router)
    columns = [
        one.column(RECEIVED, "rate_down_mbps", scale=1e-6, missing=("",)),
        one.column(SENT, "rate_up_mbps", scale=1e-6, missing=("",)),
    ]
    return _recording(path, one, columns, (f"Router {router}, one of {len(known)}.",))


def _recording(path: Path, table: Table, columns: list[pl.Series], notes: tuple[str, ...]) -> Recording:
    frame, found = ordered(table, CLOCK, dated(table, CLOCK), columns)
    frame, holes = with_holes(frame)
    return Recording(frame, "series", "usage", "fjordlink", path.name, (USAGE, *notes, *found, *holes))


def _names(path: Path) -> set[str]:
    with parquet_errors(path):
        return set(pl.read_parquet_schema(path))


def _table(path: Path, names: list[str]) -> Table:
    with parquet_errors(path):
        frame = pl.read_parquet(path, columns=sorted(names))
        plain = [name for name, dtype in frame.schema.items() if not dtype.is_nested()]
        return Table(path, frame.select(plain).cast(pl.String), 1, "row")


IMPORTERS = (
    Importer("recording", "a recording of this lab (Parquet)", fits, recording.read),
    Importer("fjordlink", "Parquet of FjordLink", fits_fjordlink, read_fjordlink),
)
