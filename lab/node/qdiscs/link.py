# SPDX-License-Identifier: GPL-2.0-or-later
"""A plan's link: what each shaped interface gets, and the steps that it follows while traffic crosses it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lab.node.qdiscs import qdisc, replay
from lab.node.system import modules

if TYPE_CHECKING:
    from lab.node.plan import Shape
    from lab.node.record import Applied, Change

TC_ALONE = ("tbf", "netem")  # they hold no series of their own
AHEAD_NS = 20_000_000  # a series is sent before it begins: its qdisc refuses a start that has passed


def shaped(shapes: "list[Shape]") -> "list[Applied]":
    """Apply every shape as it is before its first step; returns each with what the kernel reports of it."""
    modules.load_all(modules_of(shapes))
    return [{**shape, "got": qdisc.apply(shape["node"], shape["dev"], shape["spec"])} for shape in shapes]


def modules_of(shapes: "list[Shape]") -> list[str]:
    """Name the modules that shapes need."""
    return list(dict.fromkeys(name for shape in shapes for name in qdisc.modules_of(shape["spec"])))


@contextmanager
def following(shapes: "list[Shape]", folder: Path, start_ns: "replay.Start") -> "Iterator[list[Change]]":
    """Let the interfaces follow their steps while the block runs; what is yielded fills with what each did."""
    with ExitStack() as stack:
        yield [_follow(stack, shape, folder / shape["steps"], start_ns) for shape in shapes if shape["steps"]]


def _follow(stack: ExitStack, shape: "Shape", steps: Path, start_ns: "replay.Start") -> "Change":
    at = shape["node"], shape["dev"], shape["spec"], steps
    if shape["spec"]["kind"] in TC_ALONE:
        from lab.node.qdiscs import tc_alone  # here: no other plan needs it

        assert isinstance(start_ns, int)
        played = stack.enter_context(tc_alone.playing(*at, start_ns))
    else:
        played = stack.enter_context(replay.playing(*at, start_ns))
    return {"part": shape["part"], "played": played}
