# SPDX-License-Identifier: GPL-2.0-or-later
r"""Series in text files, read line by line so that a day's needs no more memory than a minute's.

A step is `<t_us>\t<value>...`, in force from then on: of a capacity one value (bit/s, or bytes that may pass at that
instant), of a delay line two (`<delay_us>\t<loss_pct>`). Times count from the series' start, begin at 0 and rise. The
last line is `<t_us>\tend`: how long the last step lasts.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from lab.node.system.tools import NodeError

END = "end"
NS_PER_US = 1000
WHOLE = 2**32  # of a share, as the kernel counts it


class Chunk(NamedTuple):
    """Steps of (ns since the start, values); the last chunk knows the end."""

    steps: list[tuple[int, ...]]
    end_ns: int | None

    @property
    def begin_ns(self) -> int:
        """Return when it begins to play."""
        return self.steps[0][0]


class Line(NamedTuple):
    """The fields of one line, and where it stands."""

    file: Path
    number: int
    fields: list[str]

    def whole(self, at: int) -> int:
        """Read a whole number."""
        text = self.fields[at]
        if not (text.isascii() and text.isdigit()):
            raise self.wrong(f"hold whole numbers from 0 on, and not {text!r}")
        return int(text)

    def percent(self, at: int) -> float:
        """Read a share in per cent."""
        try:
            value = float(self.fields[at])
        except ValueError:
            value = -1.0
        if not 0 <= value <= 100:
            raise self.wrong(f"hold a loss of 0 to 100 %, and not {self.fields[at]!r}")
        return value

    def of(self, count: int) -> "Line":
        """Return the line where it has so many fields."""
        if len(self.fields) != count:
            raise self.wrong(f"have {count} fields, split by a tab")
        return self

    def wrong(self, rule: str) -> NodeError:
        """Describe what the line must be."""
        return NodeError(f"{self.file.name}: line {self.number}: must {rule}")


def capacity(line: Line) -> tuple[int, ...]:
    """Read a capacity's value."""
    return (line.of(2).whole(1),)


def delay(line: Line) -> tuple[int, ...]:
    """Read a delay line's delay in us, and its loss as a share of WHOLE."""
    return line.of(3).whole(1), share(line.percent(2))


def share(percent: float) -> int:
    """Return a share in the kernel's 32 bits; the largest of them is all."""
    return min(round(percent / 100 * WHOLE), WHOLE - 1)


def chunks(file: Path, size: int, values: Callable[[Line], tuple[int, ...]]) -> Iterator[Chunk]:
    """Read a series in chunks of so many steps; the kernel checks their order."""
    steps: list[tuple[int, ...]] = []
    for line in _lines(file):
        if line.fields[1:] == [END]:
            if not steps:
                raise line.wrong("begin with a step")
            yield Chunk(steps, line.whole(0) * NS_PER_US)
            return
        if len(steps) == size:
            yield Chunk(steps, None)
            steps = []
        value = values(line)  # first: it refuses a line with another number of fields
        steps.append((line.whole(0) * NS_PER_US, *value))
    raise NodeError(f"{file.name}: must close with the line <t_us>\\t{END}")


def _lines(file: Path) -> Iterator[Line]:
    with file.open() as stream:
        for number, line in enumerate(stream, 1):
            yield Line(file, number, line.rstrip("\n").split("\t"))
