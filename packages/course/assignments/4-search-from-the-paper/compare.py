# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare what a student's module printed with Algorithm 1: the first bin that differs, and the misreading behind."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from lab_course.assignment import sibling
from lab_course.marks import Marks
from lab_course.ran import Ran
from lab_course.work import Download, Work
from lab_try.senders import Passed

from lab.base.errors import UserError
from lab.judge.ack_stream import ack_stream

algorithm, vectors = sibling(__file__, "algorithm"), sibling(__file__, "vectors")
GLUE, HEADER, VECTORS = "tcp_search_paper.c", "search_paper.h", "vectors.h"
HERE = Path(__file__).parent
START = HERE / "start" if (HERE / "start").is_dir() else HERE.parent  # in a student's folder they lie above the checks
HANGS = "does not return"  # what the smoke test states of it; where it was interrupted differs from run to run
NUMBER = "[0-9]{1,20}"  # of 64 bits; a module can print longer ones
LINE = re.compile(
    rf"paper: (\w+) bin=(-?{NUMBER}) bin_us=({NUMBER}) compared=([01]) curr=({NUMBER}) prev=({NUMBER}) exit=([01])"
)
EXITS = re.compile(r"paper: (\w+) exits=([01]*)")
EXIT_TOLERANCE_S = 0.002
Row = Any  # algorithm.Row, of a file that no package holds


@dataclass(frozen=True)
class Aspect:
    """What of a row one check looks at."""

    fields: tuple[str, ...]
    expected: Callable[[Row, Row], Row]  # from the right row and the student's, what the student's should be


BINS = Aspect(("bin", "bin_us", "compared"), lambda right, _own: right)
WINDOWS = Aspect(("curr", "prev"), lambda right, _own: right)
# The verdict on the student's own sums: a wrong window costs no points twice.
DECISION = Aspect(
    ("exit",),
    lambda _right, own: own._replace(exit=own.compared and algorithm._exit(own.curr, own.prev, algorithm.RIGHT)),
)
EVERYTHING = Aspect(algorithm.Row._fields, lambda right, _own: right)


@dataclass(frozen=True)
class Own:
    """What a module printed of one vector: a row per bin, and whether paper_exit leaves with each of the given sums."""

    rows: list[Row] = field(default_factory=list)
    exits: list[bool] = field(default_factory=list)


def given(seed: int, draws: int = 1) -> dict[str, bytes]:
    """Return the teacher's files that a student's header is built with."""
    files = {name: (START / name).read_bytes() for name in (GLUE, "paper.h")}
    return {**files, VECTORS: vectors.header(vectors.vectors(seed, draws)).encode()}


def ran(work: Work, seed: int, link: str, duration_s: int, draws: int = 1) -> Ran:
    """Build the header with the vectors of a seed, and run the module as the sender of a download."""
    return work.run(_passed(work, seed, draws), link, work.seed(), Download(duration_s))


def _passed(work: Work, seed: int, draws: int) -> Passed:
    """Build and smoke-test the module."""
    try:
        return work.passed(work.build(HEADER, GLUE, given(seed, draws)))
    except UserError as error:
        if HANGS not in str(error):
            raise
        raise UserError(f"{HEADER}: a loop does not end: the module hung while it ran the vectors") from None


def printed(log: str) -> dict[str, Own]:
    """Return what the module printed of each vector when it was loaded."""
    found: dict[str, Own] = defaultdict(Own)
    for name, bin_, bin_us, compared, curr, prev, left in LINE.findall(log):
        row = algorithm.Row(int(bin_), int(bin_us), compared == "1", int(curr), int(prev), left == "1")
        found[name].rows.append(row)
    for name, exits in EXITS.findall(log):
        found[name].exits.extend(each == "1" for each in exits)
    return found


def marks(found: dict[str, Own], seed: int, aspect: Aspect, draws: int = 1) -> Marks:
    """Return a share for each kind of vector whose draws are all right in one aspect, and the first that is wrong.

    Of one draw a table of other vectors' rows may be right by luck, of several it is not.
    """
    given_vectors = vectors.vectors(seed, draws)
    faults = [(each.kind, fault) for each in given_vectors if (fault := _fault(each, found.get(each.name), aspect))]
    if not faults:
        return Marks(1.0, f"All {len(given_vectors)} vectors are right, bin by bin.")
    place, text = faults[0][1]
    return Marks(1 - len({kind for kind, _ in faults}) / len(vectors.KINDS), text, place)


def _fault(vector: Any, found: Own | None, aspect: Aspect) -> tuple[str, str] | None:
    """Return where what was printed of a vector first differs, and why; null where nothing does."""
    right, own = list(algorithm.run(vector.acks)), found.rows if found else []
    if not any(row.compared for row in own) and aspect is not BINS:
        return f"vector {vector.name}", "No bin was compared: paper_can_compare must hold first."
    for expected, row in zip(own if aspect is DECISION else right, own, strict=False):
        wanted = aspect.expected(expected, row)
        wrong = next((name for name in aspect.fields if getattr(wanted, name) != getattr(row, name)), None)
        if wrong:
            place = f"vector {vector.name}, bin {expected.bin}: {wrong}={_shown(getattr(row, wrong))}"
            return place, f"It must be {_shown(getattr(wanted, wrong))}. {_advice(vector, own, aspect, wrong)}".strip()
    if len(own) != len(right) and aspect is not DECISION:
        return f"vector {vector.name}", f"{len(own)} bins ended: must be {len(right)}."
    return _wrong_exit(vector, found.exits if found else []) if "exit" in aspect.fields else None


def _wrong_exit(vector: Any, own: list[bool]) -> tuple[str, str] | None:
    """Return the first of the given sums with which paper_exit is wrong: it knows no more than its two arguments."""
    for (curr, prev), left in zip_longest(vector.sums, own):
        right = algorithm._exit(curr, prev, algorithm.RIGHT)
        if left is not right:
            place = f"vector {vector.name}, sums of vectors.h: paper_exit({curr}, {prev})={_shown(left)}"
            return place, f"It must be {_shown(right)}, whatever was called before."
    return None


def _shown(value: int) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _advice(vector: Any, own: list[Row], aspect: Aspect, wrong: str) -> str:
    """Return the advice of the misreading that gives the student's rows, else of one that gives the wrong field."""
    for fields in (algorithm.Row._fields, (wrong,)):
        for reading in algorithm.MISREADINGS:
            if _values(_misread(vector, own, aspect, reading), fields) == _values(own, fields):
                return str(reading.advice)
        if aspect is EVERYTHING and wrong == "exit":  # few values: several misreadings give the same
            break
    return ""


def _misread(vector: Any, own: list[Row], aspect: Aspect, reading: Any) -> list[Row]:
    if aspect is DECISION:
        return [row._replace(exit=row.compared and algorithm._exit(row.curr, row.prev, reading)) for row in own]
    return list(algorithm.run(vector.acks, reading))


def _values(rows: list[Row], fields: tuple[str, ...]) -> list[tuple[Any, ...]]:
    return [tuple(getattr(row, name) for name in fields) for row in rows]


def exit_marks(found: Ran) -> Marks:
    """Compare the module's exit with Algorithm 1 over the very ACKs that its flow got."""
    pictures = (found.picture("exit", "Your module.", until_s=None),)
    left, should = found.exit, next(_exits(found), None)
    own_s = left.t_s if left and left.cause == "search_paper" else None
    if should is None:
        right, reason = own_s is None, "Over these ACKs Algorithm 1 does not leave slow start."
    else:
        at_s, row = should
        right = own_s is not None and abs(own_s - at_s) <= EXIT_TOLERANCE_S
        reason = f"Over these ACKs Algorithm 1 leaves at {at_s:.3f} s, at the end of bin {row.bin}"
    yours = (
        f"your module at {own_s:.3f} s"
        if own_s is not None
        else "your module does not (something else ended slow start)"
    )
    text = f"{reason}, and so does your module." if right else f"{reason}; {yours}."
    return Marks(float(right), text, "" if right else f"link {found.link.title}", figures=pictures)


def _exits(found: Ran) -> Iterator[tuple[float, Row]]:
    """Yield time and row of each exit that Algorithm 1 finds in the flow's ACKs."""
    at_us = 0
    acks = [ack for ack in ack_stream(found.trial.acks).iter_rows() if ack[1] > 0]

    def stream() -> Iterator[tuple[int, int, int]]:
        nonlocal at_us
        for ack in acks:
            at_us = ack[0]
            yield ack

    for row in algorithm.run(stream()) if acks else ():
        if row.exit:
            yield at_us / 1e6, row
