# SPDX-License-Identifier: GPL-2.0-or-later
"""5Gophers and Lumos5G: iperf3 TCP downloads over 5G as CSV, a row a second; and 5Gophers' pings without a clock."""

from pathlib import Path

import polars as pl

from lab.base.errors import field_error
from lab.traces.importers.clock import counted, ordered, with_holes
from lab.traces.importers.importer import Head, Importer
from lab.traces.importers.iperf3_tests import GOODPUT
from lab.traces.importers.table import Table, read_table
from lab.traces.recording import Recording

SUFFIX = "throughput_mbps"
PROBES = {"rtt_in_ms": "probe_num", "rtt_ms": "server_location"}  # RTT's column: another that stands beside it
LUMOS = frozenset({"run_num", "seq_num", "Throughput", "nrStatus", "mobility_mode"})


def fits_rates(head: Head) -> bool:
    """Recognise a second's number and a throughput in Mb/s."""
    return "seq_num" in head.header and any(name.endswith(SUFFIX) for name in head.header)


def fits_probes(head: Head) -> bool:
    """Recognise an RTT beside a server, without a clock."""
    return any({rtt, other} <= head.header for rtt, other in PROBES.items())


def fits_lumos(head: Head) -> bool:
    """Recognise Lumos5G's column names."""
    return head.header >= LUMOS


def read_rates(path: Path, *, carrier: str | None = None) -> Recording:
    """Read a download's goodput; `carrier` picks one of several recorded side by side."""
    table = read_table(path)
    names = {name.removesuffix(SUFFIX).rstrip("_"): name for name in table.frame.columns if name.endswith(SUFFIX)}
    if carrier is None and len(names) == 1:
        carrier = next(iter(names))
    if carrier not in names:
        raise field_error(path, "carrier", carrier, f"given, one of {', '.join(sorted(names))}")
    note = (f"The column of {carrier}.",) if carrier else ()
    return _download(path, table, names[carrier], "5gophers", note)


def read_lumos(path: Path, *, run: int | None = None) -> Recording:
    """Read a run's goodput (Mb/s by the data set's paper; its README names no unit); `run` picks one of several."""
    table = read_table(path)
    runs = table.numbers("run_num", 0)
    if run is None and runs.n_unique() == 1:
        run = int(runs[0])
    if isinstance(run, bool) or run not in runs.to_list():
        raise field_error(path, "run", run, "given, one of run_num's")
    one = table.only(runs == run)
    return _download(path, one, "Throughput", "lumos5g", (f"Run {run} of {runs.n_unique()}.",))


def read_probes(path: Path) -> Recording:
    """Read pings without a clock: a distribution to draw from, with what each was of as text."""
    table = read_table(path)
    name = next((rtt for rtt in PROBES if rtt in table.frame.columns), "rtt_ms")
    labels = [table.text(column) for column in table.frame.columns if column not in (name, "probe_num")]
    frame = pl.DataFrame([table.column(name, "rtt_ms"), *labels])
    notes = ("No clock: samples to draw from, no series.",)
    return Recording(frame, "samples", None, "5gophers-rtt", path.name, notes)


def _download(path: Path, table: Table, name: str, form: str, notes: tuple[str, ...]) -> Recording:
    rate = table.column(name, "rate_down_mbps")
    frame, found = ordered(table, "seq_num", counted(table, "seq_num"), [rate])
    frame, holes = with_holes(frame)
    kept = "The download's ramp is not cut: where a test began is not in the file."
    return Recording(frame, "series", "goodput", form, path.name, (GOODPUT, kept, *notes, *found, *holes))


IMPORTERS = (
    Importer("5gophers", "CSV of 5Gophers' downloads", fits_rates, read_rates),
    Importer("5gophers-rtt", "CSV of 5Gophers' pings, no clock", fits_probes, read_probes),
    Importer("lumos5g", "CSV of Lumos5G", fits_lumos, read_lumos),
)
