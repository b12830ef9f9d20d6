# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures of one download, as other clocks and other places show them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from whatif_captures import MSS, Frame


def later(frames: list[Frame], since_s: float, by_s: float) -> list[Frame]:
    """Set the capture's clock once."""
    return [replace(each, t_s=each.t_s + (by_s if each.t_s > since_s else 0)) for each in frames]


def twice(frames: list[Frame], after_s: float, every: int = 1) -> list[Frame]:
    copies = [replace(each, t_s=each.t_s + after_s) for each in frames[::every]]
    return sorted([*frames, *copies], key=lambda each: each.t_s)


def both(first: list[Any], second: list[Any]) -> list[Any]:
    return sorted([*first, *second], key=lambda each: each.t_s)


def spoiled(frames: Iterable[Frame], **change: Any) -> list[Frame]:
    return [replace(frame, **change) for frame in frames]


def merged(frames: list[Frame], count: int) -> list[Frame]:
    """Join runs of segments that follow each other, as GRO does."""
    out: list[Frame] = []
    for frame in frames:
        last = out[-1] if out else None
        joins = last and last.length and frame.length and last.seq + last.length == frame.seq
        if last and joins and last.length < count * MSS:
            out[-1] = replace(last, length=last.length + frame.length, t_s=frame.t_s)
        else:
            out.append(frame)
    return out


def off(frames: list[Frame], side: str, per_s: float) -> list[Frame]:
    """Let the time stamps of the end that is not the capture's gain so much in each second."""
    kinds = ("tsecr", "tsval") if side == "client" else ("tsval", "tsecr")  # of what goes up, and down
    out = []
    for each in frames:
        field = kinds[each.to_client]
        out.append(replace(each, **{field: getattr(each, field) + int(max(getattr(each, field) - 1000, 0) * per_s)}))
    return out
