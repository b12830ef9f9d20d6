# SPDX-License-Identifier: GPL-2.0-or-later
"""One sentence per kind of link, the kind that lies furthest from the papers first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lab_compare.matrix.matrix import Cell, Matrix, MatrixRow
from lab_compare.matrix.readings import Reading
from lab_compare.ranks import of

from lab.base.format import few
from lab.base.stats import share_pct
from lab.evaluation.measures import PRIMARY, RULE


@dataclass(frozen=True)
class Sentence:
    """What was found on one kind of link; `apart` in percentage points from the papers, null where none has a share."""

    kind: str
    found: str
    compared: str
    apart: float | None


def sentences(matrix: Matrix) -> list[Sentence]:
    """Return a sentence per kind of link, the largest disagreement with a paper first."""
    by_kind: dict[str, list[MatrixRow]] = {}
    for row in matrix.rows:
        by_kind.setdefault(row.kind, []).append(row)
    found = [_sentence(kind, rows, matrix.senders) for kind, rows in by_kind.items()]
    return sorted(found, key=lambda each: -1 if each.apart is None else each.apart, reverse=True)


def in_order(matrix: Matrix) -> Matrix:
    """Return a matrix with its rows in the order of the sentences."""
    kinds = [sentence.kind for sentence in sentences(matrix)]
    return replace(matrix, rows=sorted(matrix.rows, key=lambda row: kinds.index(row.kind)))


def _sentence(kind: str, rows: Sequence[MatrixRow], senders: Mapping[str, str]) -> Sentence:
    by_link = {cca: _counted(rows, cca) for cca in senders}
    most = max(by_link.values(), key=len, default={})  # a sender that did not run over all these links is not compared
    known = {cca: _sum(found.values()) for cca, found in by_link.items() if found and found.keys() == most.keys()}
    compared, apart = _furthest(rows, senders)
    return Sentence(kind, _found(rows, known, senders), compared, apart)


def _found(rows: Sequence[MatrixRow], counts: Mapping[str, tuple[int, int]], senders: Mapping[str, str]) -> str:
    """Name the sender that leaves at the right moment most often, who ties with it, and the one that does least."""
    order = sorted(counts, key=lambda cca: counts[cca][0] / counts[cca][1], reverse=True)
    if not order:
        return "no trial left slow start."
    best, *others = [f"{senders[cca]} in {counts[cca][0]:,} of {counts[cca][1]:,}" for cca in order]
    who, share = best.split(" in ", 1)
    tied = [senders[cca] for cca in order[1:] if not _separated(rows, order[0], cca)]
    ties = f" (not separated: {', '.join(tied)})" if tied else ""
    least = f", {others[-1]}" if others else ""
    return f"{who} leaves at the right moment in {share} trials{ties}{least}."


def _separated(rows: Sequence[MatrixRow], best: str, cca: str) -> bool:
    """Return whether two senders have separated on some link of a kind, or were ranked on none."""
    ranked = [row.found for row in rows if PRIMARY in row.found.pairs and PRIMARY not in row.found.unranked]
    pairs = [pair for found in ranked if (pair := of(found.pairs[PRIMARY], best, cca))]
    return not pairs or any(pair.separated for pair in pairs)


def _counted(rows: Sequence[MatrixRow], cca: str) -> dict[int, tuple[int, int]]:
    """Return at the chokepoint by the queue, and judged, of each row of a kind that has such trials to compare."""
    cells = {number: row.cells[cca] for number, row in enumerate(rows) if cca in row.cells}
    counts = {number: _hits(cell, PRIMARY) for number, cell in cells.items() if not cell.run}
    return {number: found for number, found in counts.items() if found[1]}


def _sum(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    hits, judged = zip(*counts, strict=True)
    return sum(hits), sum(judged)


def _hits(cell: Cell, measure: str) -> tuple[int, int]:
    """Return at the chokepoint by a measure, and judged."""
    known = [value for value in cell.found.values.get(measure, {}).get(cell.cca, []) if value is not None]
    return round(sum(known)), len(known)


def _furthest(rows: Sequence[MatrixRow], senders: Mapping[str, str]) -> tuple[str, float | None]:
    """Compare by the papers' rule: the cell whose share lies furthest from the published one."""
    cells = [(row, cell) for row in rows for cell in row.cells.values() if _apart(cell) is not None]
    cells = [each for each in cells if not _of_another_version(each[1])] or cells
    if not cells:
        return "No paper gives a share.", None
    row, cell = max(cells, key=lambda each: _apart(each[1]) or 0.0)
    reading, apart = cell.readings[RULE], _apart(cell) or 0.0
    theirs = reading.published
    where = "" if len(rows) == 1 else f" on {row.found.link.title}"
    assert theirs is not None
    ran = f", {theirs.ran}" if theirs.ran else ""
    ours = f"{senders[cell.cca]} does so in {few(*_hits(cell, RULE))}{where}"
    return f"By the papers' rule, {ours}; published: {reading.published_text} ({theirs.source}{ran}).", apart


def _apart(cell: Cell) -> float | None:
    reading: Reading | None = cell.readings.get(RULE)
    ours = share_pct(*_hits(cell, RULE))
    return None if reading is None or reading.published is None or ours is None else abs(ours - reading.published.value)


def _of_another_version(cell: Cell) -> bool:
    theirs = cell.readings[RULE].published
    return theirs is not None and theirs.ran is not None
