# SPDX-License-Identifier: GPL-2.0-or-later
"""Series in text files, read line by line so that a day's needs no more memory than a minute's.

Capacity: `<t_us>\t<value>` a step (bit/s from then on, or bytes that may pass at that instant), and at last
`<t_us>\tend`: how long the last step lasts. Delays: `<t_us>\t<delay_us>\t<loss_pct>\t<slot_pkts>` a step. Times
count from the series' start and rise; a capacity begins at 0.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lab.node.tools import NodeError

END = "end"
NS_PER_US = 1000


class Chunk(NamedTuple):
    """Steps of (ns since the start, value); the last chunk knows the end."""

    steps: list[tuple[int, int]]
    end_ns: int | None

    @property
    def begin_ns(self) -> int:
        """Return when it begins to play."""
        return self.steps[0][0]


def chunks(file: Path, size: int) -> Iterator[Chunk]:
    """Read a capacity in chunks of so many steps; the kernel checks their order and their values."""
    steps: list[tuple[int, int]] = []
    for number, fields in _lines(file, 2):
        t_ns = _whole(file, number, fields[0]) * NS_PER_US
        if fields[1] == END:
            if not steps:
                raise _wrong(file, number, "begin with a step")
            yield Chunk(steps, t_ns)
            return
        if len(steps) == size:
            yield Chunk(steps, None)
            steps = []
        steps.append((t_ns, _whole(file, number, fields[1])))
    raise NodeError(f"{file.name}: must close with the line <t_us>\\t{END}")


def delays(file: Path) -> Iterator[tuple[int, dict[str, float]]]:
    """Read a delay line's steps: microseconds since the start, and what of netem's spec changes then."""
    before_us = -1
    for number, fields in _lines(file, 4):
        t_us, delay_us = _whole(file, number, fields[0]), _whole(file, number, fields[1])
        if t_us <= before_us:
            raise _wrong(file, number, "follow the line before in time")
        before_us = t_us
        slot_pkts = _whole(file, number, fields[3])
        yield t_us, {"delay_us": delay_us, "loss_pct": _percent(file, number, fields[2]), "slot_pkts": slot_pkts}


def _lines(file: Path, count: int) -> Iterator[tuple[int, list[str]]]:
    with file.open() as stream:
        for number, line in enumerate(stream, 1):
            fields = line.rstrip("\n").split("\t")
            if len(fields) != count:
                raise _wrong(file, number, f"have {count} fields, split by a tab")
            yield number, fields


def _whole(file: Path, number: int, text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise _wrong(file, number, f"hold whole numbers from 0 on, and not {text!r}")
    return int(text)


def _percent(file: Path, number: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise _wrong(file, number, f"hold a loss of 0 to 100 %, and not {text!r}")
    return value


def _wrong(file: Path, number: int, rule: str) -> NodeError:
    return NodeError(f"{file.name}: line {number}: must {rule}")
