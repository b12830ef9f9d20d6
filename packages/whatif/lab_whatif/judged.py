# SPDX-License-Identifier: GPL-2.0-or-later
"""From a capture to what it shows of its link, or to the lines that refuse it."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from lab_formats.reading.packets import ACK, SYN

from lab.base.errors import Faults, UserError, field_error
from lab_whatif import refuse
from lab_whatif.infer import Inferred, infer
from lab_whatif.path import at_receiver, at_sender
from lab_whatif.segments import Segments, in_full_segments, of_capture

Side = Literal["receiver", "sender"]
SIDES = ("receiver", "sender")
AT_ONCE = 4  # times shorter: the end at which the capture was taken answers the handshake at once
NEAR_S, NEAR_SHARE = 0.001, 0.02  # of the base RTT: an end at which a capture is taken answers sooner


def judged(file: Path, at: str | None, notes: list[str]) -> tuple[Segments, Inferred, Side]:
    """Read a capture and infer its link; Faults with each rule that it breaks."""
    if at is not None and at not in SIDES:
        raise field_error("command line", "at", at, " or ".join(SIDES))
    segments = of_capture(file, notes)
    refuse_all(file, list(refuse.before_path(segments)))
    side: Side = "sender" if at == "sender" else "receiver" if at else side_of(file, segments)
    if side == "sender":
        segments = in_full_segments(segments)
    refuse_all(file, [*refuse.merged(segments), *refuse.unplaced(segments, side)])
    segments = in_full_segments(segments)  # also the few that a receiver's host merged
    path = at_receiver(segments) if side == "receiver" else at_sender(segments)
    if path is None:
        raise field_error(file, "TCP time stamps", "no clock", "a steady clock of 1 us to 100 ms over 0.1 s at least")
    inferred = replace(infer(path, segments.name), header_bytes=segments.header_bytes)
    inferred = replace(inferred, set_ms=refuse.set_s(segments, side) * 1e3)
    called_s, opener_s = _answers_s(segments)
    is_opener = side == ("sender" if segments.opener_sends else "receiver")
    near_s, far_s = (opener_s, called_s) if is_opener else (called_s, opener_s)
    if side == "sender" and far_s:
        inferred = replace(inferred, handshake_ms=far_s * 1e3)
    if near_s > max(NEAR_S, NEAR_SHARE * inferred.base_s) + segments.grain_s:
        inferred = replace(inferred, near_ms=near_s * 1e3)
    refuse_all(file, list(refuse.of_path(segments, inferred, side)))
    return segments, inferred, side


def refuse_all(file: Path, lines: list[str]) -> None:
    """Raise Faults of lines that state what is wrong with a file, where there are any."""
    if lines:
        raise Faults(UserError(f"{file}: {line}") for line in lines)


def side_of(file: Path, segments: Segments) -> Side:
    """Return at which end the capture was taken, by which one answered the handshake at once."""
    there_s, back_s = _answers_s(segments)
    if max(there_s, back_s) < AT_ONCE * min(there_s, back_s):
        shown = f"{there_s * 1e3:.1f} and {back_s * 1e3:.1f} ms to answer the handshake"
        raise field_error(file, "place of the capture", shown, "at one end of the path: capture there, or state --at")
    opener_side = there_s > back_s
    return "receiver" if opener_side != segments.opener_sends else "sender"


def _answers_s(segments: Segments) -> tuple[float, float]:
    """Return how long the handshake's answers took: of who was called, and of the opener."""
    flags = segments.flags & (SYN | ACK)
    answer = int(np.flatnonzero(flags == SYN | ACK)[0])
    opened = np.flatnonzero(flags[:answer] == SYN)
    opener = segments.data if segments.opener_sends else ~segments.data
    third = np.flatnonzero(opener & (flags == ACK) & (np.arange(len(flags)) > answer))  # no SYN that was sent again
    there_s = float(segments.t_s[answer] - segments.t_s[opened[-1]]) if len(opened) else 0.0
    back_s = float(segments.t_s[third[0]] - segments.t_s[answer]) if len(third) else 0.0
    return there_s, back_s
