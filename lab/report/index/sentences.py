# SPDX-License-Identifier: GPL-2.0-or-later
"""One sentence per kind of link, the kind that lies furthest from the papers first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lab.judge.registry import TRUTH
from lab.report.matrix.matrix import Cell, Matrix, Row
from lab.report.matrix.measures import RULE
from lab.report.matrix.published import short_label


@dataclass(frozen=True)
class Sentence:
    """What was found on one kind of link; `apart` in percentage points from the papers, null where none has a share."""

    kind: str
    found: str
    compared: str
    apart: float | None


def sentences(matrix: Matrix) -> list[Sentence]:
    """Return a sentence per kind of link, the largest disagreement with a paper first."""
    by_kind: dict[str, list[Row]] = {}
    for row in matrix.rows:
        by_kind.setdefault(row.kind, []).append(row)
    found = [_sentence(kind, rows, matrix.senders) for kind, rows in by_kind.items()]
    return sorted(found, key=lambda each: -1 if each.apart is None else each.apart, reverse=True)


def in_order(matrix: Matrix) -> Matrix:
    """Return a matrix with its rows in the order of the sentences."""
    kinds = [sentence.kind for sentence in sentences(matrix)]
    return replace(matrix, rows=sorted(matrix.rows, key=lambda row: kinds.index(row.kind)))


def _sentence(kind: str, rows: Sequence[Row], senders: Mapping[str, str]) -> Sentence:
    counts = {cca: _counted(rows, cca) for cca in senders}
    known = {cca: hits for cca, hits in counts.items() if hits[1]}
    best = sorted(known, key=lambda cca: known[cca][0] / known[cca][1], reverse=True)
    parts = [f"{short_label(senders[cca])} in {known[cca][0]} of {known[cca][1]}" for cca in best]
    links = "" if len(rows) == 1 else f" on {len(rows)} links"
    found = f"at the right moment{links}: {', '.join(parts)} trials." if parts else "no trial left slow start."
    compared, apart = _furthest(rows, senders)
    return Sentence(kind, found, compared, apart)


def _counted(rows: Sequence[Row], cca: str) -> tuple[int, int]:
    """Return at the chokepoint by the queue, and judged, over all links of a kind."""
    readings = [row.cells[cca].readings[TRUTH] for row in rows if cca in row.cells]
    return sum(reading.hits for reading in readings), sum(reading.judged for reading in readings)


def _furthest(rows: Sequence[Row], senders: Mapping[str, str]) -> tuple[str, float | None]:
    """Compare by the papers' rule: the cell whose share lies furthest from the published one."""
    cells = [(row, cell) for row in rows for cell in row.cells.values() if _apart(cell) is not None]
    if not cells:
        return "No paper has a share for it.", None
    row, cell = max(cells, key=lambda each: _apart(each[1]) or 0.0)
    reading, apart = cell.readings[RULE], _apart(cell) or 0.0
    theirs = reading.published
    where = "" if len(rows) == 1 else f" ({row.link})"
    assert theirs is not None and reading.value is not None
    ran = f" (of {theirs.ran})" if theirs.ran else ""
    return (
        f"Furthest from a paper, by its own rule: {short_label(senders[cell.cca])}{where} with {reading.value:.0f} %, "
        f"where the {theirs.source} has {theirs.value:.0f} %{ran}.",
        apart,
    )


def _apart(cell: Cell) -> float | None:
    reading = cell.readings[RULE]
    theirs = reading.published
    return None if theirs is None or reading.value is None else abs(reading.value - theirs.value)
