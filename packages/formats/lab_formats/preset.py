# SPDX-License-Identifier: GPL-2.0-or-later
"""A format that only maps columns: a table that names each column, its unit, and what its numbers mean."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl

from lab.schema.load import Strict
from lab.traces.importer import Head, Importer
from lab.traces.recording import Meaning, Recording
from lab_formats.reading.clock import counted, dated, ordered, with_holes
from lab_formats.reading.table import Table, read_table
from lab_formats.reading.units import ColumnSpec, parse_columns


class Mapped(Strict):
    """How columns of a file become those of a recording.

    `columns` has the syntax of the format `columns`: `t_s=Time [ms], rate_down_mbps=DL [kbit/s]`. Without t_s the rows
    are samples.
    """

    reads: str  # the file, in a few words
    gives: str  # the recording, in a few words
    columns: str
    meaning: Meaning | None = None
    notes: Sequence[str] = ()
    separator: str = ","
    header: Sequence[str] | None = None  # column names of a file without a header line
    missing: Mapping[str, Sequence[str]] = {}  # marks of a missing value, by column of the recording
    suffixes: Mapping[str, str] = {}  # text behind each number, by column of the recording
    labels: Sequence[str] = ()  # columns of text that samples keep
    short_after: str | None = None  # a row that ends with this text may have fewer fields
    values_have_ends: bool = True  # a value does not last over a pause of the recorder
    full_loss_has_no_rtt: bool = False  # an RTT where all probes were lost is an old one


class Preset(Mapped):
    """A format of columns, and how a file of it is recognised."""

    name: str
    fits: Callable[[Head], bool]

    def importer(self, read: Callable[..., Recording] | None = None) -> Importer:
        """Return the format; `read` replaces the preset's own where the format has options."""
        return Importer(self.name, self.reads, self.gives, self.fits, read or self.read)

    def read(self, path: Path) -> Recording:
        """Read a file."""
        return self.recording(self.table(path))

    def table(self, path: Path) -> Table:
        """Read a file's columns as text."""
        return read_table(path, self.separator, self.header, self.short_after)

    def recording(self, table: Table, notes: tuple[str, ...] = (), leave_out: int = 0) -> Recording:
        """Map the columns of a table; leave out its first rows."""
        specs = parse_columns(table.file, self.columns)
        clock = next((one for one in specs if one.becomes == "t_s"), None)
        values = self._values(table, [one for one in specs if one is not clock])
        notes = (*self.notes, *notes)
        if clock is None:
            frame = pl.DataFrame([*values, *(table.text(label) for label in self.labels)])
            return Recording(frame, "samples", self.meaning, self.name, table.file.name, notes)
        t_s = counted(table, clock.name, clock.unit) if clock.scale else dated(table, clock.name, clock.form)
        frame, found = ordered(table, clock.name, t_s, values)
        frame = frame[leave_out:].with_columns(frame["t_s"][leave_out:] - frame["t_s"][leave_out])
        frame, holes = with_holes(frame) if self.values_have_ends else (frame, [])
        return Recording(frame, "series", self.meaning, self.name, table.file.name, (*notes, *found, *holes))

    def _values(self, table: Table, specs: list[ColumnSpec]) -> list[pl.Series]:
        found = {one.becomes: self._value(table, one) for one in specs}
        if self.full_loss_has_no_rtt:
            probed = (found["loss_pct"] == 100.0).fill_null(False).not_()
            found["rtt_ms"] = pl.select(pl.when(probed).then(found["rtt_ms"]).alias("rtt_ms")).to_series()
        return list(found.values())

    def _value(self, table: Table, one: ColumnSpec) -> pl.Series:
        marks, suffix = self.missing.get(one.becomes), self.suffixes.get(one.becomes, "")
        return table.column(one.name, one.becomes, one.scale or 1.0, marks, suffix)


def has_columns(*names: str) -> Callable[[Head], bool]:
    """Recognise a CSV by names in its header."""
    return lambda head: head.header >= set(names)
