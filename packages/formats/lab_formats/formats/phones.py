# SPDX-License-Identifier: GPL-2.0-or-later
"""What phones measured over 5G, as CSV: 5Gophers' iperf3 TCP downloads and pings, and Lumos5G's downloads."""

from pathlib import Path

from lab.base.errors import field_error
from lab.traces.importer import Head
from lab.traces.recording import Recording
from lab_formats.preset import Preset, has_columns
from lab_formats.reading.iperf3_tests import GOODPUT, RAMP_KEPT

SUFFIX = "throughput_mbps"
PROBES = {"rtt_in_ms": "probe_num", "rtt_ms": "server_location"}  # RTT's column: another column of the same file


def fits_downloads(head: Head) -> bool:
    """Recognise a second's number and a throughput in Mb/s."""
    return "seq_num" in head.header and any(name.endswith(SUFFIX) for name in head.header)


DOWNLOADS = Preset(
    name="5gophers",
    reads="CSV of 5Gophers' downloads",
    gives="goodput",
    fits=fits_downloads,
    columns="t_s=seq_num, rate_down_mbps={column}",
    meaning="goodput",
    notes=(GOODPUT, RAMP_KEPT),
)


def read_downloads(path: Path, *, carrier: str | None = None) -> Recording:
    """Read a download's goodput; `carrier` picks one of several recorded side by side."""
    table = DOWNLOADS.table(path)
    names = {name.removesuffix(SUFFIX).rstrip("_"): name for name in table.frame.columns if name.endswith(SUFFIX)}
    if carrier is None and len(names) == 1:
        carrier = next(iter(names))
    if carrier not in names:
        raise field_error(path, "carrier", carrier, f"given, one of {', '.join(sorted(names))}")
    note = (f"The column of {carrier}.",) if carrier else ()
    columns = DOWNLOADS.columns.format(column=names[carrier])
    return DOWNLOADS.model_copy(update={"columns": columns}).recording(table, note)


def fits_pings(head: Head) -> bool:
    """Recognise an RTT beside a server, without a clock."""
    return any({rtt, other} <= head.header for rtt, other in PROBES.items())


PINGS = Preset(
    name="5gophers-rtt",
    reads="CSV of 5Gophers' pings, no clock",
    gives="samples of RTT",
    fits=fits_pings,
    columns="rtt_ms={column}",
    notes=("No clock: samples to draw from, no series.",),
)


def read_pings(path: Path) -> Recording:
    """Read the RTTs as samples; the other columns are kept as text."""
    table = PINGS.table(path)
    rtt = next((name for name in PROBES if name in table.frame.columns), "rtt_ms")
    labels = tuple(name for name in table.frame.columns if name not in (rtt, "probe_num"))
    columns = PINGS.columns.format(column=rtt)
    return PINGS.model_copy(update={"columns": columns, "labels": labels}).recording(table)


LUMOS5G = Preset(
    name="lumos5g",
    reads="CSV of Lumos5G",
    gives="goodput",
    fits=has_columns("run_num", "seq_num", "Throughput", "nrStatus", "mobility_mode"),
    columns="t_s=seq_num, rate_down_mbps=Throughput",  # Mb/s by the data set's paper; its README names no unit
    meaning="goodput",
    notes=(GOODPUT, RAMP_KEPT),
)


def read_lumos5g(path: Path, *, run: int | None = None) -> Recording:
    """Read the goodput of a run; `run` picks one of several."""
    table = LUMOS5G.table(path)
    runs = table.numbers("run_num", 0)
    if run is None and runs.n_unique() == 1:
        run = int(runs[0])
    if isinstance(run, bool) or run not in runs.to_list():
        raise field_error(path, "run", run, "given, one of run_num's")
    return LUMOS5G.recording(table.only(runs == run), (f"Run {run} of {runs.n_unique()}.",))


IMPORTERS = (DOWNLOADS.importer(read_downloads), PINGS.importer(read_pings), LUMOS5G.importer(read_lumos5g))
