# SPDX-License-Identifier: GPL-2.0-or-later
"""irtt's JSON (json_format 1): round trips with their own losses."""

from pathlib import Path

import numpy as np
import polars as pl

from lab.base.errors import UserError
from lab.traces.columns import SLOWEST_MS
from lab.traces.importer import Head, Importer
from lab.traces.recording import Recording
from lab_formats.reading.clock import shifted
from lab_formats.reading.documents import Node, documents

# irtt writes booleans, a fork of it (LENS) words; true_up and true_down give the way on which it was lost
STATES = {"false": False, "true": True, "true_up": True, "true_down": True}
LATEST_NS = 2**63 - 1


def fits(head: Head) -> bool:
    """Recognise irtt's name in its version; the round trips may come much later."""
    return head.first.startswith("{") and '"irtt"' in "\n".join(head.lines)


def read(path: Path) -> Recording:
    """Read every round trip at the time it was sent."""
    found = documents(path)
    if len(found) != 1:
        raise UserError(f"{path}: content: must be one JSON document (has {len(found)})")
    version = found[0].at("version", "json_format")
    if version.value != 1:
        raise version.refuse("1")
    trips = list(found[0].at("round_trips").items())
    if not trips:
        raise found[0].at("round_trips").refuse("a list with round trips")
    # by the clock that cannot step
    sent_ns = [trip.at("timestamps", "client", "send", "monotonic").whole(0, LATEST_NS) for trip in trips]
    lost = [_lost(trip) for trip in trips]
    rtt = [
        None if gone else trip.at("delay", "rtt").number(0, SLOWEST_MS * 1e6) / 1e6
        for trip, gone in zip(trips, lost, strict=True)
    ]
    order = np.argsort(np.array(sent_ns), kind="stable")
    t_s = shifted(np.array([sent_ns[i] - min(sent_ns) for i in order]) / 1e9, str(path))
    columns = {"t_s": t_s, "rtt_ms": [rtt[i] for i in order], "lost": [lost[i] for i in order]}
    frame = pl.DataFrame(columns, schema_overrides={"rtt_ms": pl.Float64})
    notes = (f"{sum(lost)} of {len(lost)} probes lost ({100 * sum(lost) / len(lost):.2f} %), missing in rtt_ms.",)
    return Recording(frame, "series", None, "irtt", path.name, notes)


def _lost(trip: Node) -> bool:
    state = trip.at("lost")
    word = str(state.value).lower() if isinstance(state.value, (bool, str)) else ""
    if word not in STATES:
        raise state.refuse("false, true, true_up or true_down")
    return STATES[word]


IMPORTERS = (Importer("irtt", "JSON of irtt", "RTT, lost", fits, read),)
