# SPDX-License-Identifier: GPL-2.0-or-later
"""LENS and its kin: raw `epoch TAB seq TAB rtt`, and the CSV that LENS publishes of ping and of irtt."""

from pathlib import Path

import polars as pl

from lab.traces.columns import SLOWEST_MS
from lab.traces.importers.clock import Seconds, counted, named_step, ordered
from lab.traces.importers.importer import Head, Importer
from lab.traces.importers.table import Table, read_table
from lab.traces.recording import Recording

LOST = "-1"
PING = frozenset({"timestamp", "rtt"})
IRTT = PING | {"uplink", "downlink"}
EPOCH_2001_S = 1e9


def fits(head: Head) -> bool:
    """Recognise three columns of an epoch, a running number and an RTT."""
    rows = [line.split("\t") for line in head.lines[:50]]
    if not rows or any(len(row) != 3 or not row[1].isdigit() for row in rows):
        return False
    try:
        return all(float(row[0]) > EPOCH_2001_S and float(row[2]) >= -1 for row in rows)
    except ValueError:
        return False


def fits_csv(head: Head) -> bool:
    """Recognise either header."""
    return head.header in (PING, IRTT)


def read(path: Path) -> Recording:
    """Read the raw form: a row each probe, -1 where it was lost."""
    table = read_table(path, "\t", ("epoch_s", "seq", "rtt_ms"))
    _one_by_one(table)
    rtt = table.column("rtt_ms", "rtt_ms", missing=(LOST,))
    return _recording(path, table, counted(table, "epoch_s"), rtt, rtt.is_null(), "epoch_s", "lens")


def read_csv(path: Path) -> Recording:
    """Read the published form: irtt's has a clock in ns and -1 in the column of the way lost, ping's answers only."""
    table = read_table(path)
    if "uplink" not in table.frame.columns:
        rtt = table.column("rtt", "rtt_ms")
        note = "Only answers are in the file: how many probes were lost is not known."
        return _recording(path, table, counted(table, "timestamp"), rtt, None, "timestamp", "lens-csv", note)
    marks = [table.numbers(name, low=-SLOWEST_MS if name != "rtt" else -1.0) for name in ("rtt", "uplink", "downlink")]
    lost = (marks[0] == -1) | ((marks[0] == 0) & ((marks[1] == -1) | (marks[2] == -1)))
    _refuse_odd(table, marks[0], lost)
    rtt = pl.select(pl.when(~lost).then(marks[0]).alias("rtt_ms")).to_series()
    return _recording(path, table, counted(table, "timestamp", "ns"), rtt, lost, "timestamp", "lens-csv")


def _recording(
    path: Path,
    table: Table,
    t_s: Seconds,
    rtt: pl.Series,
    lost: pl.Series | None,
    clock: str,
    form: str,
    *more: str,
) -> Recording:
    columns = [rtt] if lost is None else [rtt, lost.alias("lost")]
    frame, notes = ordered(table, clock, t_s, columns, sort=True)
    notes += [*named_step(path.name, frame["t_s"].to_numpy()), *more]
    if lost is not None:
        notes.append(
            f"{lost.sum()} of {len(lost)} probes lost ({100 * lost.sum() / len(lost):.2f} %), missing in rtt_ms."
        )
    return Recording(frame, "series", None, form, path.name, tuple(notes))


def _one_by_one(table: Table) -> None:
    seq = table.numbers("seq", 0)
    gaps = (seq.diff(null_behavior="drop") != 1).arg_true()
    if len(gaps):
        row = gaps[0] + 1
        raise table.error(row, "seq", table.text("seq")[row], f"{seq[row - 1] + 1:.0f}: each probe has a row")


def _refuse_odd(table: Table, rtt: pl.Series, lost: pl.Series) -> None:
    odd = (~lost & (rtt <= 0)).arg_true()
    if len(odd):
        raise table.error(odd[0], "rtt", table.text("rtt")[odd[0]], "above 0, or -1 in one column where lost")


IMPORTERS = (
    Importer("lens", "epoch, number and RTT, TAB between them", fits, read),
    Importer("lens-csv", "the CSV that LENS publishes", fits_csv, read_csv),
)
