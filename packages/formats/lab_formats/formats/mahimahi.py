# SPDX-License-Identifier: GPL-2.0-or-later
"""Mahimahi's packet-delivery lines: each is the millisecond at which one 1500-byte packet may cross."""

from pathlib import Path

import numpy as np

from lab.traces.importer import Head, Importer
from lab.traces.recording import Recording
from lab_formats.reading.delivery_lines import opportunities
from lab_formats.reading.whole_numbers import SHORT_LINES, head_integers

LATEST_START_MS = 3_600_000  # a recording begins near its own 0
LATE_S = 5.0  # a link that is silent for longer at its begin is rather a piece of a longer file
DIRECTIONS = {".down": "network to user", ".up": "user to network"}


def fits(head: Head) -> bool:
    """Recognise whole numbers that never fall; many that are all the same are a rate."""
    numbers = head_integers(head)
    if numbers is None or not 0 <= numbers[0] <= LATEST_START_MS:
        return False
    moves = len(numbers) < SHORT_LINES or numbers[-1] > numbers[0]
    return moves and bool((np.diff(numbers) >= 0).all())


def read(path: Path) -> Recording:
    """Count the opportunities of each millisecond; the clock is the file's own and may begin above 0."""
    frame = opportunities(path)
    direction = DIRECTIONS.get(path.suffix)
    notes = [f"Direction {path.suffix[1:]} by the file's suffix: {direction}."] if direction else []
    if (begin_s := float(frame["t_s"][0])) > LATE_S:
        notes.append(f"The first packet crosses at {begin_s:.3f} s, none before it: as mahimahi has it, in each loop.")
    notes.append(f"{frame['opportunities'].sum()} packets of 1500 bytes in {frame['t_s'][-1]:.3f} s.")
    return Recording(frame, "opportunities", "capacity", "mahimahi", path.name, tuple(notes))


IMPORTERS = (
    Importer("mahimahi", "packet-delivery lines: one millisecond per line", "opportunities, capacity", fits, read),
)
