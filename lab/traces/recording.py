# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording of a link: one table on one clock, with its meaning and its limits."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, get_args

import polars as pl
from pyarrow.parquet import read_metadata

from lab.base import strict_json
from lab.base.errors import UserError, field_error
from lab.base.plain_file import require_plain, whole_file
from lab.traces.columns import LONGEST_S, check_clock, check_columns
from lab.traces.parquet import announced, parquet_errors, require_small

Kind = Literal["series", "opportunities", "samples"]
Meaning = Literal["capacity", "goodput", "usage"]
Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)

KEY = "search-lab recording"
VERSION = 1
ROW_GROUP = 131_072  # rows that a lazy reader holds at once


@dataclass(frozen=True)
class Facts(Generic[Frame]):
    """A table of numbers, and the facts that it does not contain."""

    frame: Frame  # t_s first, from 0, strictly increasing
    kind: Kind  # series: on a clock; opportunities: times at which packets may pass; samples: no clock, to draw from
    meaning: Meaning | None  # of the rate columns; None where there are none, or the source does not state it
    format: str  # the importer's name
    source: str  # file names
    notes: tuple[str, ...]  # what the importer found or did, a sentence each
    length_s: float | None = None  # where the source states it, as by an end without values; else as rows usually last

    @property
    def about(self) -> dict[str, Any]:
        """Everything but the table."""
        return {each.name: getattr(self, each.name) for each in fields(Facts)[1:]}


@dataclass(frozen=True)
class Recording(Facts[pl.DataFrame]):
    """A recording in memory.

    A value holds from its t_s until the next row's; null is missing: nobody measured, or the answer never came.
    UserError where a column is not one of lab.traces.columns or breaks its rule.
    """

    def __post_init__(self) -> None:
        for field, known in (("kind", get_args(Kind)), ("meaning", (*get_args(Meaning), None))):
            if getattr(self, field) not in known:
                raise field_error(self.source, field, getattr(self, field), f"one of {', '.join(map(str, known))}")
        check_columns(self.frame, self.kind, self.source)
        if self.kind != "samples":
            check_clock(self.frame["t_s"], self.source, starts_at_0=self.kind == "series")
            if self.length_s is not None and not self.frame["t_s"][-1] <= self.length_s <= LONGEST_S:
                raise field_error(self.source, "length_s", self.length_s, f"the last t_s or above, to {LONGEST_S:g}")


@dataclass(frozen=True, kw_only=True)
class Scan(Facts[pl.LazyFrame]):
    """A stored recording that is not in memory."""

    path: Path

    def batches(self, rows: int = ROW_GROUP) -> Iterator[pl.DataFrame]:
        """Yield the table in pieces of so many rows: constant memory, whatever the recording's length."""
        total, last_s = int(self.frame.select(pl.len()).collect().item()), None
        for start in range(0, total, rows):
            with parquet_errors(self.path):
                piece = self.frame.slice(start, rows).collect()
            check_columns(piece, self.kind, str(self.path))
            if self.kind != "samples":
                check_clock(piece["t_s"], str(self.path), self.kind == "series" and last_s is None, last_s)
                last_s = float(piece["t_s"][-1])
            yield piece


def write(recording: Recording, path: Path) -> None:
    """Store a recording as Parquet; it appears when it is whole."""
    stated = {name: value for name, value in recording.about.items() if name != "length_s" or value is not None}
    about = json.dumps({"version": VERSION, **stated})
    require_plain(path)
    try:
        with whole_file(path) as file:
            recording.frame.write_parquet(file, compression="zstd", row_group_size=ROW_GROUP, metadata={KEY: about})
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"{path}: {reason}: must be a file that can be written") from None


def read(path: Path) -> Recording:
    """Read a stored recording into memory; UserError where the file is another one."""
    found = scan(path)
    with parquet_errors(path):
        require_small(read_metadata(path), path)
        frame = found.frame.collect()
    check_columns(frame, found.kind, str(path))  # what is wrong is this file's, and not its source's
    return Recording(frame, **found.about)


def scan(path: Path) -> Scan:
    """Open a stored recording lazily: its table stays on disk."""
    metadata = _metadata(path)
    frame = pl.scan_parquet(path, glob=False)
    found = _scan(path, frame, metadata)
    with parquet_errors(path):
        announced(read_metadata(path))
        frame.collect_schema()
    return found


def is_recording(path: Path) -> bool:
    """Return whether a Parquet file is one that `write` wrote."""
    return KEY in _metadata(path)


def _metadata(path: Path) -> dict[str, str]:
    with parquet_errors(path):
        return pl.read_parquet_metadata(path)


def _scan(path: Path, frame: pl.LazyFrame, metadata: dict[str, str]) -> Scan:
    try:
        content = strict_json.loads(metadata[KEY])
        version = content.pop("version")
        notes = tuple(content.pop("notes"))
        found = Scan(frame=frame, path=path, notes=notes, **content)
    except (KeyError, ValueError, TypeError, AttributeError):
        raise UserError(f"{path}: metadata: must be that of a recording written by `lab traces import`") from None
    if version != VERSION:
        raise field_error(path, "version", version, f"{VERSION}: import the recording again")
    _check_words(path, found)
    return found


def _check_words(path: Path, about: Scan) -> None:
    texts: list[Any] = [about.format, about.source, *about.notes]
    if about.kind not in get_args(Kind) or not all(isinstance(text, str) for text in texts):
        raise field_error(path, "metadata", about.kind, "that of a recording written by `lab traces import`")
    if about.length_s is not None and (type(about.length_s) is not float or not 0 < about.length_s <= LONGEST_S):
        raise field_error(path, "length_s", about.length_s, f"a number above 0, at most {LONGEST_S:g}")
    if about.meaning not in (*get_args(Meaning), None):
        raise field_error(path, "meaning", about.meaning, f"one of {', '.join(get_args(Meaning))}, or null")
