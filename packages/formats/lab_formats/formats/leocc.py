# SPDX-License-Identifier: GPL-2.0-or-later
"""LeoCC's delays (a line is the one-way delay in ms for the next 10 ms), alone or with its packet-delivery lines."""

from pathlib import Path

import numpy as np
import polars as pl

from lab.base.errors import field_error
from lab.traces.columns import SLOWEST_MS
from lab.traces.importer import Head, Importer
from lab.traces.recording import Recording
from lab_formats.reading.delivery_lines import opportunities
from lab_formats.reading.whole_numbers import head_integers, may_be_delays, read_integers

STEP_MS = 10
NOTE = (
    "Each line is the one-way delay for the next 10 ms: so the format defines, not the file. Its recorder replays it "
    "in both directions, so that RTT is twice the value."
)


def fits(head: Head) -> bool:
    """Recognise whole numbers that fall somewhere."""
    numbers = head_integers(head)
    return numbers is not None and may_be_delays(numbers)


def read(path: Path, *, rate: Path | None = None) -> Recording:
    """Read a delay file; `rate` names the packet-delivery lines recorded with it.

    With both, a row holds a delay, opportunities, or both; a null does not bear on the other column.
    """
    delays = read_integers(path, "delay_ms", int(SLOWEST_MS)).astype(np.float64)
    frame = pl.DataFrame({"t_s": np.arange(len(delays)) * STEP_MS / 1e3, "delay_ms": delays})
    if rate is None:
        return Recording(frame, "series", None, "leocc", path.name, (NOTE,))
    if not isinstance(rate, Path):
        raise field_error(path, "rate", rate, "the path of a file")
    both = opportunities(rate).join(frame, on="t_s", how="full", coalesce=True).sort("t_s")
    source = f"{rate.name}, {path.name}"
    return Recording(both, "opportunities", "capacity", "leocc", source, (NOTE, "Rate and delay joined on one clock."))


OR = (
    "columns, such as --set header=no --set step_s=1 --set 'columns=rate_down_mbps=1 [kbit/s]': "
    "one number a line may be either"
)
IMPORTERS = (Importer("leocc", "one-way delays, one line per 10 ms", "one-way delay, capacity", fits, read, OR),)
