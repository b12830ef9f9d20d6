# SPDX-License-Identifier: GPL-2.0-or-later
"""FjordLink's Parquet dumps of a Starlink dish and of 5G routers, one row per second."""

from pathlib import Path

import polars as pl
from pyarrow.parquet import read_metadata

from lab.base.errors import field_error
from lab.traces.importer import Head
from lab.traces.parquet import MAGIC, parquet_errors, require_small
from lab.traces.recording import Recording
from lab_formats.preset import Preset
from lab_formats.reading.table import Table

USAGE = "Throughput is what users happened to send: usage, no capacity."
NO_ANSWER = ("", "-1", "-1.0")  # in the column of the latency
EMPTY = ("",)
MISSING = {"rate_down_mbps": EMPTY, "rate_up_mbps": EMPTY, "rtt_ms": NO_ANSWER, "loss_pct": EMPTY}
CLOCK = "@timestamp"
DISH = "dish_status."
OF_A_DISH = DISH + "downlink_throughput_bps"
IDENTITY = "identity"
RECEIVED, SENT = "lte.lrxbitspersecond", "lte.ltxbitspersecond"


def fits(head: Head) -> bool:
    """Recognise the column names of either dump."""
    names = _names(head.path) if head.data.startswith(MAGIC) else set()
    return CLOCK in names and (OF_A_DISH in names or RECEIVED in names)


FROM_DISH = Preset(
    name="fjordlink",
    reads="Parquet of FjordLink",
    gives="usage, RTT, loss",
    fits=fits,
    columns=(
        f"t_s={CLOCK} [date], rate_down_mbps={OF_A_DISH} [bit/s], rate_up_mbps={DISH}uplink_throughput_bps [bit/s], "
        f"rtt_ms={DISH}pop_ping_latency_ms, loss_pct={DISH}pop_ping_drop_rate [share]"
    ),
    missing=MISSING,
    full_loss_has_no_rtt=True,
    meaning="usage",
    notes=(USAGE,),
)
OF_A_ROUTER = f"t_s={CLOCK} [date], rate_down_mbps={RECEIVED} [bit/s], rate_up_mbps={SENT} [bit/s]"
FROM_ROUTER = FROM_DISH.model_copy(update={"columns": OF_A_ROUTER, "full_loss_has_no_rtt": False})


def read(path: Path, *, router: str | None = None) -> Recording:
    """Read a dump; `router` picks one of several that report into the same file."""
    names = _names(path)
    table = _table(path, [name for name in names if name in (CLOCK, IDENTITY, RECEIVED, SENT) or name.startswith(DISH)])
    if OF_A_DISH not in names:
        return _router(path, table, router)
    if router is not None:
        raise field_error(path, "router", router, "left out: this is a dish's dump")
    return FROM_DISH.recording(table)


def _router(path: Path, table: Table, router: str | None) -> Recording:
    identity = table.text(IDENTITY)
    known = sorted(set(identity.to_list()))
    router = known[0] if router is None and len(known) == 1 else router
    if router not in known:
        raise field_error(path, "router", router, f"given, one of {', '.join(known)}")
    return FROM_ROUTER.recording(table.only(identity == router), (f"Router {router}, one of {len(known)}.",))


def _names(path: Path) -> set[str]:
    with parquet_errors(path):
        return set(pl.scan_parquet(path, glob=False).collect_schema())


def _table(path: Path, names: list[str]) -> Table:
    with parquet_errors(path):
        require_small(read_metadata(path), path, names)
        frame = pl.read_parquet(path, columns=sorted(names), glob=False)
        plain = [name for name, dtype in frame.schema.items() if not dtype.is_nested()]
        return Table(path, frame.select(plain).cast(pl.String), 1, "row")


IMPORTERS = (FROM_DISH.importer(read),)
