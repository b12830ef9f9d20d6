# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables that may be too large for memory: their pieces lie in a file of the trial's draft, and are read one by one.

polars' own scan of such a file maps it and reads ahead: it took as much memory as the table.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

ROWS = 1 << 16  # of a piece
MOST_ROWS = 1 << 18  # in memory


@dataclass(frozen=True)
class Outside:
    """A table in a file, and what is done to each of its pieces: only what acts on each row by itself."""

    file: Path
    steps: tuple[Callable[[pl.DataFrame], pl.DataFrame], ...] = ()

    def filter(self, *conditions: Any, **equal: Any) -> "Outside":
        """Keep some rows."""
        return replace(self, steps=(*self.steps, lambda piece: piece.filter(*conditions, **equal)))

    def select(self, *columns: Any) -> "Outside":
        """Keep or calculate some columns; the largest of a column is the largest of each piece."""
        return replace(self, steps=(*self.steps, lambda piece: piece.select(*columns)))

    def pieces(self) -> Iterator[pl.DataFrame]:
        """Yield its rows in their order."""
        with pa.OSFile(str(self.file)) as stream, pa.ipc.open_file(stream) as source:
            for number in range(source.num_record_batches):
                piece = pl.DataFrame(source.get_batch(number))
                for step in self.steps:
                    piece = step(piece)
                yield piece


Frame = pl.DataFrame | Outside


def outside(pieces: Iterator[pl.DataFrame], file: Path) -> Frame:
    """Return a table of pieces, in memory where they fit; of more rows a file holds them all."""
    held: list[pl.DataFrame] = []
    for piece in pieces:
        held.append(piece)
        if sum(each.height for each in held) > MOST_ROWS:
            return _written(held, pieces, file)
    return pl.concat(held)


def _written(held: list[pl.DataFrame], pieces: Iterator[pl.DataFrame], file: Path) -> Outside:
    with pa.OSFile(str(file), "wb") as stream, pa.ipc.new_file(stream, held[0].to_arrow().schema) as sink:
        for piece in pieces:
            if sum(each.height for each in held) >= ROWS:
                sink.write_table(pl.concat(held).to_arrow(), ROWS)
                held.clear()
            held.append(piece)
        sink.write_table(pl.concat(held).to_arrow(), ROWS)
    return Outside(file)


def pieces_of(table: Frame) -> Iterator[pl.DataFrame]:
    """Yield the rows of a table in their order: all at once where it is in memory."""
    if isinstance(table, pl.DataFrame):
        yield table
    else:
        yield from table.pieces()


def collected(table: Frame) -> pl.DataFrame:
    """Return a table, or what was selected of one, in memory."""
    return table if isinstance(table, pl.DataFrame) else pl.concat(table.pieces())


def first_row(table: Frame) -> tuple[Any, ...] | None:
    """Return the first row of a table; None of an empty one."""
    return next((piece.row(0) for piece in pieces_of(table) if piece.height), None)
