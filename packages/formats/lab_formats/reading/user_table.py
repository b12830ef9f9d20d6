# SPDX-License-Identifier: GPL-2.0-or-later
"""A table as users have it: comments, an index without a name, separators at a line's end; text or JSON."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from lab.base.errors import UserError, field_error
from lab_formats.reading.documents import Node, documents
from lab_formats.reading.table import BLANK, MOST_COLUMNS, Table, fields, text_lines
from lab_formats.reading.text import line_error

SEPARATORS = {"comma": ",", "tab": "\t", "blank": BLANK, "semicolon": ";", "bar": "|"}
JSON = re.compile(r"\s*(\[\s*\{|\{)")
STATED = re.compile(r'"?sep=(?P<mark>.)"?', re.IGNORECASE)  # Excel's first line
MOST_TITLES = 30
RING = (
    "A dish's history is a ring: its oldest value stands at `current` modulo its length, which only you can see here."
)
Wanted = Callable[[Iterable[str]], bool]


@dataclass(frozen=True)
class UserTable:
    """The columns, those that the file itself names, and what was found on the way."""

    table: Table
    named: tuple[str, ...]
    notes: tuple[str, ...] = ()
    separator: str = ""


def read_user_table(path: Path, separator: str | None, header: bool, wanted: Wanted) -> UserTable:
    """Read a table; `wanted` recognises the names of a header, which may stand in a comment.

    A column without a name, or with one that no option can write, has that of its place, counted from 1.
    UserError where the first line shows several separators and none is given.
    """
    lines = text_lines(path)
    while len(lines) > 1 and not lines[-1].strip(" "):
        lines.pop()
    if JSON.match("\n".join(lines[:3])):
        return _of_json(path)
    stated = STATED.fullmatch(lines[0].strip(" "))
    kept = [place for place, line in enumerate(lines) if not line.lstrip().startswith("#") and (place or not stated)]
    if not kept:
        raise UserError(f"{path}: content: must be a table with rows")
    header_in = _titles(path, lines, kept, separator, wanted) if header and not stated else 0
    titles, kept = kept[:header_in], kept[header_in:]
    comments = [place for place, line in enumerate(lines) if line.lstrip().startswith("#")]
    mark = SEPARATORS[separator] if separator else stated["mark"] if stated else _separator(path, lines[kept[0]])
    names, header_at = None, kept[0]
    if header:
        above = [place for place in comments if place < kept[0]][-1:]
        names, header_at = _header(path, lines, [*kept[:1], *above], mark, wanted)
        kept = [place for place in kept if place > header_at]
    notes = (
        [f"{len(titles)} lines above the header are passed over (the first: line {titles[0] + 1})."] if titles else []
    )
    notes += _comment_note([place for place in comments if place != header_at])
    kept, more = _without_gaps(lines, kept, mark, lines[header_at] if header else None)
    notes += more
    if not kept:
        raise UserError(f"{path}: content: must be a table with rows")
    rows = _split(path, [lines[place] for place in kept], mark, [place + 1 for place in kept])
    names, more = _fitted(path, names, rows, kept)
    frame = _named(path, names, rows, header_at + 1).with_columns(_row=pl.Series(kept, dtype=pl.Int64))
    named = tuple(name for name in names if name)
    return UserTable(Table(path, frame, 1, header_line=header_at + 1), named, (*notes, *more), mark)


def _titles(path: Path, lines: list[str], kept: list[int], separator: str | None, wanted: Wanted) -> int:
    """Return how many lines stand above the header; none where no line has the names that are wanted."""
    for above, place in enumerate(kept[:MOST_TITLES]):
        try:
            mark = SEPARATORS[separator] if separator else _separator(path, lines[place])
            if lines[place].strip(" ") and wanted(_names(path, lines[place], mark, place)):
                return above
        except UserError:  # a line of words may show several separators
            continue
    return 0


def _separator(path: Path, line: str) -> str:
    found = [name for name in ("comma", "tab", "semicolon") if SEPARATORS[name] in line]
    if len(found) > 1:
        raise field_error(path, "separator", "", f"given, because the first line has more than one: {', '.join(found)}")
    if found or "|" in line:
        return SEPARATORS[(found or ["bar"])[0]]
    return BLANK if " " in line.strip() else ","


def _header(path: Path, lines: list[str], places: list[int], mark: str, wanted: Wanted) -> tuple[list[str], int]:
    """Return the names and their line: the first that is no comment, or the comment above it that has them."""
    found = [(_names(path, lines[place], mark, place), place) for place in places]
    for names, place in found[1:]:
        plain = [name.removeprefix("#").strip() if not at else name for at, name in enumerate(names)]
        plain = plain[1:] if mark == BLANK and not plain[0] else plain
        if not wanted(found[0][0]) and (wanted(plain) or wanted(names)):
            return (plain if wanted(plain) else names), place
    return found[0]


def _names(path: Path, line: str, mark: str, place: int) -> list[str]:
    return [word.strip() for word in _split(path, [line], mark, [place + 1])[0]]


def _split(path: Path, lines: list[str], mark: str, numbers: list[int]) -> pl.Series:
    if mark == BLANK:
        lines = [re.sub(r"[ \t]+", " ", line.strip()) for line in lines]
    return fields(path, lines, mark, numbers)


def _without_gaps(lines: list[str], kept: list[int], mark: str, header: str | None) -> tuple[list[int], list[str]]:
    """Leave out empty lines between rows of several columns, and headers that stand again."""
    several = mark in (header or next(filter(str.strip, (lines[place] for place in kept)), "")).strip()
    empty = [place for place in kept if several and not lines[place].strip(" ")]
    again = [place for place in kept if header is not None and lines[place].strip() == header.strip()]
    notes = [f"{len(empty)} empty lines are passed over (the first: line {empty[0] + 1})."] if empty else []
    notes += [f"The header stands {len(again)} times again (first: line {again[0] + 1})."] if again else []
    return [place for place in kept if place not in {*empty, *again}], notes


def _comment_note(places: list[int]) -> list[str]:
    first = ", ".join(str(place + 1) for place in places[:1])
    return [f"{len(places)} lines begin with # and are passed over (the first: line {first})."] if places else []


def _fitted(path: Path, names: list[str] | None, rows: pl.Series, kept: list[int]) -> tuple[list[str], list[str]]:
    """Fit the names to the rows: an empty field may end a row or the header, and an index may have no name at all."""
    lengths, notes = rows.list.len(), []
    if names is None:
        names = [str(place) for place in range(1, len(rows[0]) + 1)]
        names = names[:-1] if len(names) > 1 and not rows[0][-1].strip() else names
    elif len(names) > 1 and not names[-1] and (lengths == len(names) - 1).all():
        names = names[:-1]
    extra = lengths == len(names) + 1
    if extra.all() and (rows.list.last().str.strip_chars() != "").any() and _counts(rows.list.first()):
        names = ["", *names]
        notes.append("Each row has a field more than the header: the first is an index, for it counts the rows.")
        return names, notes
    wrong = (lengths != len(names)) & ~(extra & (rows.list.last().str.strip_chars() == ""))
    if len(found := wrong.arg_true()):
        row = int(found[0])
        raise line_error(path, kept[row] + 1, "columns", len(rows[row]), f"{len(names)}, as in the other lines")
    return names, notes


def _counts(first: pl.Series) -> bool:
    numbers = first.str.strip_chars().cast(pl.Int64, strict=False)
    return not numbers.null_count() and numbers[0] in (0, 1) and bool((numbers.diff().drop_nulls() == 1).all())


def _named(path: Path, names: list[str], rows: pl.Series, line: int) -> pl.DataFrame:
    if len(names) > MOST_COLUMNS:
        raise line_error(path, line, "columns", len(names), f"at most {MOST_COLUMNS}")
    names = [name if names.count(name) == 1 and "," not in name else "" for name in names]  # its place says which
    placed = {place: name or str(place + 1) for place, name in enumerate(names) if name or str(place + 1) not in names}
    return pl.DataFrame([rows.list.get(place, null_on_oob=True).alias(name) for place, name in placed.items()])


def _of_json(path: Path) -> UserTable:
    """Read a list of objects, one object per line, or an object of equally long lists."""
    found = documents(path)
    rows = _rows(found)
    if not rows:
        raise UserError(f"{path}: content: must be a table with rows")
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [pl.Series(name, [_text(row.get(name)) for row in rows], dtype=pl.String) for name in names]
    lists = found[0].value if isinstance(found[0].value, dict) else {}
    notes = (RING,) * isinstance(lists.get("popPingLatencyMs"), list)
    return UserTable(Table(path, pl.DataFrame(columns), 1, "row"), tuple(names), notes)


def _rows(found: list[Node]) -> list[dict[str, Any]]:
    lists = found[0].value if isinstance(found[0].value, dict) and len(found) == 1 else {}
    if lists and all(isinstance(value, list) for value in lists.values()):
        if len({len(value) for value in lists.values()}) > 1:
            raise found[0].refuse("lists of one length, one per column")
        return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    nodes = list(found[0].items()) if len(found) == 1 and isinstance(found[0].value, list) else found
    for node in nodes:
        if not isinstance(node.value, dict):
            raise node.refuse("an object: one row of a table")
    return [node.value for node in nodes]


def _text(value: Any) -> str:
    """Return a member as a table of text has it; what is missing is empty."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
