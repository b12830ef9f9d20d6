# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab traces import`: describe each file, and store the recording where --out names a file."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from lab.base.entry_points import loaded
from lab.base.errors import field_error
from lab.traces import importers, recording
from lab.traces.recording import Recording
from lab_formats.named import given_options
from lab_formats.shown.panels import SHARES, lasting_s, quantiles

PAIR = "leocc"


def run(files: list[Path], format: str | None, out: Path | None, settings: list[str]) -> Iterator[str]:  # noqa: A002
    """Import the files, describe and store them; two files of `leocc` are a pair, rate first."""
    pair = format == PAIR and len(files) == 2
    if out is not None and len(files) > 1 and not pair:
        raise field_error("import", "--out", out, "given for one recording at a time")
    for file in files[1:] if pair else files:
        importer = importers.importer_of(format) if format is not None else importers.detect(file)
        options = given_options(importer, settings) | ({"rate": files[0]} if pair else {})
        found = _with_notes(importers.read(file, importer.name, **options), file)
        yield from described(found)
        if out is not None:
            recording.write(found, out)
            yield f"  stored in {out}"


def _with_notes(found: Recording, file: Path) -> Recording:
    """Add what packages state of a file, such as the link behind a capture's rate."""
    added = [note for notes in loaded("lab.recording_notes").values() for note in notes(file, found.format)]
    return replace(found, notes=(*found.notes, *added))


def described(found: Recording) -> Iterator[str]:
    """Describe a recording: its kind, its columns with their spread, and its notes."""
    what = f"{found.kind} of {found.meaning}" if found.meaning else found.kind
    length_s = found.length_s or (found.frame["t_s"][-1] if "t_s" in found.frame.columns else None)
    length = "" if length_s is None else f", {length_s:.3f} s"
    yield f"{found.source}: {found.format}, {what}, {found.frame.height} rows{length}"
    for name in found.frame.columns:
        if name != "t_s":
            yield f"  {name:17} {_spread(found.frame[name], lasting_s(found))}"
    yield from (f"  {note}" for note in found.notes)


def _spread(column: pl.Series, lasts_s: pl.Series) -> str:
    missing = f", {column.null_count()} missing" if column.null_count() else ""
    if column.dtype == pl.String:
        return f"{column.n_unique()} different{missing}"
    if column.dtype == pl.Boolean:
        return f"{column.sum()} of {len(column)}{missing}"
    known = [f"{value:.4g}" for value in quantiles(column, lasts_s, SHARES)]
    return f"p5/50/95/max {'/'.join(known)}{missing}" if known else f"all {len(column)} missing"
