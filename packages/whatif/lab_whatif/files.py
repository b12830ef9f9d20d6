# SPDX-License-Identifier: GPL-2.0-or-later
"""What `lab whatif` writes: evidence.json, capacity.parquet, up.parquet, whatif.csv; profiles are link.py's."""

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from lab.base.errors import UserError
from lab.base.plain_file import MEGABYTE, read_plain, require_plain, whole_file, write_whole
from lab.traces.importers import content_digest
from lab.traces.recording import Recording
from lab_whatif.counterfactual import Range
from lab_whatif.evidence import Item, items
from lab_whatif.infer import Inferred
from lab_whatif.verdict import Compared

EVIDENCE, CAPACITY, UP, NUMBERS, LINK = "evidence.json", "capacity.parquet", "up.parquet", "whatif.csv", "link.yml"


def is_of(folder: Path, capture: Path) -> bool:
    """Return whether a folder has what was written for this very file."""
    require_plain(capture)
    try:
        return content_digest(capture).encode() in read_plain(folder / EVIDENCE, MEGABYTE)
    except (UserError, OSError):  # a stranger's, or none
        return False


def write_evidence(folder: Path, capture: Path, inferred: Inferred, side: str, notes: list[str]) -> None:
    """Write each number with its bounds, the capacity by time, and each ACK's wait."""
    _write_json(folder, capture, side, notes, items(inferred))
    _write_table(folder / CAPACITY, inferred.capacity.drop("replayed_mbps"))
    up = inferred.path.up
    waits = {"t_s": up.depart_s, "wait_ms": up.most_s * 1e3, "bracket_ms": (up.most_s - up.least_s) * 1e3}
    _write_table(folder / UP, pl.DataFrame(waits))


def write_bounds(folder: Path, capture: Path, log: Recording, table: pl.DataFrame, found: list[Item]) -> None:
    """Write what coarse readings bound."""
    _write_json(folder, capture, "sender, by its tcp_info", log.notes, found)
    _write_table(folder / CAPACITY, table)


def _write_json(folder: Path, capture: Path, side: str, notes: Sequence[str], numbers: list[Item]) -> None:
    facts = {"capture": capture.name, "digest": content_digest(capture), "captured_at": side, "notes": list(notes)}
    content = facts | {"numbers": [each._asdict() for each in numbers]}
    write_whole(folder / EVIDENCE, json.dumps(content, indent=1) + "\n")


def write_numbers(folder: Path, was: str, compared: list[Compared], ranges: list[Range]) -> None:
    """Write a row per sender and quantity."""
    rows: list[tuple[str | float | None, ...]] = [
        (was, each.quantity, each.unit, each.recorded, each.replayed, each.replayed, each.answer, each.reason)
        for each in compared
    ]
    rows += [(*each[:6], "REFUSED" if each.low is None else "RANGE", each.reason) for each in ranges]
    names = ["sender", "quantity", "unit", "recorded", "low", "high", "answer", "reason"]
    types = [pl.String, pl.String, pl.String, pl.Float64, pl.Float64, pl.Float64, pl.String, pl.String]
    schema = dict(zip(names, types, strict=True))
    write_whole(folder / NUMBERS, pl.DataFrame(rows, schema=schema, orient="row", strict=False).write_csv())


def _write_table(file: Path, table: pl.DataFrame) -> None:
    with whole_file(file) as sink:
        table.write_parquet(sink)
