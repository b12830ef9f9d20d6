# SPDX-License-Identifier: GPL-2.0-or-later
"""Raw records of a measured path (lab_live.node.recorder) turned into recordings, one for each phase."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from lab.base import strict_json
from lab.base.errors import UserError, field_error
from lab.base.plain_file import MEGABYTE, read_plain
from lab.traces.recording import Meaning, Recording

ARRIVAL = np.dtype([("arrived_ns", "<u8"), ("number", "<u4")])
ROUND_TRIP = np.dtype([("number", "<u4"), *((f"{at}_ns", "<u8") for at in ("sent", "there", "left", "back"))])
WAYS = ("down", "up")
FORMAT = "recorder"
SATURATED = 0.98  # of what was sent: where more came through, the link was not the limit
OPPORTUNITY_BYTES = 1500
NEAREST_PCT = 10  # of the probes, those with the shortest round trips, show the offset of the two clocks
ETHERNET_BYTES = 14
PROBE_FRAME_BYTES = 82  # payload 40, UDP 8, IP 20, Ethernet 14
Times = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Phase:
    """One phase of a raw record."""

    folder: Path
    asked: dict[str, Any]
    meta: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.meta["name"])

    @property
    def step_s(self) -> float:
        """Return the time between two probes, which is also that between two rows."""
        return float(self.asked["probe_ms"]) / 1e3

    @property
    def ways(self) -> list[str]:
        """Return the ways that were filled."""
        return [way for way in WAYS if self.meta[way]["sent_pkts"]]

    @cached_property
    def probes(self) -> npt.NDArray[Any]:
        """Return the answered probes by number, the first answer of each."""
        answers = np.fromfile(self.folder / f"{self.meta['stem']}.probes", ROUND_TRIP)
        return answers[np.unique(answers["number"], return_index=True)[1]]

    def fillers(self, way: str) -> npt.NDArray[Any]:
        """Return the fillers that came, in order of arrival."""
        return np.fromfile(self.folder / f"{self.meta['stem']}.{way}", ARRIVAL)

    def arrivals_ns(self, way: str) -> Times:
        """Return when fillers came, in the client's time since the phase's start; of copies, the first."""
        came = self.fillers(way)
        first: Times = came[np.sort(np.unique(came["number"], return_index=True)[1])]["arrived_ns"].astype(np.int64)
        return np.sort(first - self._start_ns(way))

    def probe_arrivals_ns(self, way: str) -> Times:
        """Return when probes, or their echoes, came, in the client's time since the phase's start."""
        came: Times = self.probes["back_ns" if way == "down" else "there_ns"].astype(np.int64)
        return came - self._start_ns(way)

    def rtts_ms(self) -> npt.NDArray[np.float64]:
        """Return the path's round trips: without what the server took to answer."""
        probes = self.probes
        path_ns = (probes["back_ns"] - probes["sent_ns"]) - (probes["left_ns"] - probes["there_ns"])
        rtts_ms: npt.NDArray[np.float64] = path_ns.astype(np.int64) / 1e6
        if rtts_ms.size and rtts_ms.min() < 0:
            raise field_error(self.folder, "rtt_ms", f"{rtts_ms.min():.3f}", "above 0: a clock was set meanwhile")
        return rtts_ms

    def _start_ns(self, way: str) -> int:
        """Return the phase's start on the clock of the end that this way leads to."""
        return int(self.meta["start_ns"]) + (self._offset_ns() if way == "up" else 0)

    def _offset_ns(self) -> int:
        """Estimate the server's clock less the client's, as NTP does, over the probes that waited least."""
        rtts_ms = self.rtts_ms()
        if not rtts_ms.size:
            raise UserError(f"{self.folder}: {self.name}: must have an answered probe to compare the two clocks")
        near = self.probes[rtts_ms <= np.percentile(rtts_ms, NEAREST_PCT)]
        sent, there, left, back = (near[f"{at}_ns"].astype(np.int64) for at in ("sent", "there", "left", "back"))
        return int(np.median(((there - sent) + (left - back)) // 2))


def phases(folder: Path) -> list[Phase]:
    """Read the phases of a folder of raw records; UserError where the machines spoilt them."""
    try:
        record = strict_json.loads(read_plain(folder / "record.json", MEGABYTE))
        found = [Phase(folder, record["asked"], meta) for meta in record["phases"]]
        overflowed = {(each.name, way): each.meta[way]["overflowed_pkts"] for each in found for way in WAYS}
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(f"{folder}: must be a folder of raw records with record.json") from None
    for (phase, way), lost in overflowed.items():
        if lost:
            rule = "0: a larger net.core.rmem_max, or less --rate-mbps"
            raise field_error(folder, f"{phase}.{way}.overflowed_pkts", lost, rule)
    return found


def recording(phase: Phase) -> Recording:
    """Make a series of a phase: one row per probe, with its round trip and the rates of its interval."""
    count = phase.meta["probes_sent"]
    rtts = pl.DataFrame({"number": phase.probes["number"].astype(np.int64), "rtt_ms": phase.rtts_ms()})
    frame = pl.DataFrame({"number": np.arange(count)}).join(rtts, on="number", how="left", maintain_order="left")
    frame = frame.select(
        (pl.col("number") * phase.step_s).alias("t_s"), "rtt_ms", pl.col("rtt_ms").is_null().alias("lost")
    )
    rates = {f"rate_{way}_mbps": _rates_mbps(phase, way, count) for way in phase.ways}
    whole = frame.with_columns(**rates).drop_nulls(list(rates)) if rates else frame
    if whole.is_empty():
        raise UserError(f"{phase.folder}: {phase.name}: must hold arrivals of {' and '.join(phase.ways)}: none came")
    begin_s = float(whole["t_s"][0])
    shifted = whole.with_columns(((pl.col("t_s") - begin_s) / phase.step_s).round() * phase.step_s)
    notes = tuple(_notes(phase, shifted, begin_s))
    return Recording(shifted, "series", _meaning(phase), FORMAT, f"{phase.meta['stem']}.*", notes)


def opportunities(phase: Phase, way: str) -> Recording:
    """Make delivery opportunities of a way's arrivals: how many 1500-byte packets came in each millisecond."""
    if phase.asked["packet_bytes"] != OPPORTUNITY_BYTES:
        raise field_error(phase.folder, "packet_bytes", phase.asked["packet_bytes"], "1500 for delivery opportunities")
    arrivals_ns = phase.arrivals_ns(way)
    if not arrivals_ns.size:
        raise UserError(f"{phase.folder}: {phase.name}: must hold arrivals of {way}: none came")
    arrivals_ms, pkts = np.unique((arrivals_ns - arrivals_ns[0]) // 1_000_000, return_counts=True)
    frame = pl.DataFrame({"t_s": arrivals_ms / 1e3, "opportunities": pkts.astype(np.uint32)})
    return Recording(
        frame, "opportunities", _meaning(phase), FORMAT, f"{phase.meta['stem']}.{way}", tuple(_way_notes(phase, way))
    )


def _rates_mbps(phase: Phase, way: str, count: int) -> pl.Series:
    """Count what came in each interval, probes too; null where fillers had not begun to come, or came no more."""
    fillers = _counted(phase.arrivals_ns(way), phase, count)
    numbers = np.flatnonzero(fillers)
    rates = np.full(count, np.nan)
    if numbers.size:  # the first and the last interval are filled in part
        known = slice(int(numbers[0]) + 1, int(numbers[-1]))
        frames_bytes = fillers * (phase.asked["packet_bytes"] + ETHERNET_BYTES)
        frames_bytes += _counted(phase.probe_arrivals_ns(way), phase, count) * PROBE_FRAME_BYTES
        rates[known] = frames_bytes[known] * 8 / phase.step_s / 1e6
    return pl.Series(rates, nan_to_null=True)


def _counted(arrivals_ns: Times, phase: Phase, count: int) -> Times:
    """Count arrivals in each of the first so many intervals."""
    bins = arrivals_ns // round(phase.step_s * 1e9)
    return np.bincount(bins[(bins >= 0) & (bins < count)], minlength=count).astype(np.int64)


def _share_through(phase: Phase, way: str) -> float:
    """Return how much of what was sent came in as long a time as the sending took."""
    arrivals_ns = phase.arrivals_ns(way)
    lasted_ns = phase.meta["probes_sent"] * phase.step_s * 1e9
    return float((arrivals_ns < arrivals_ns[:1] + lasted_ns).sum() / phase.meta[way]["sent_pkts"])


def _meaning(phase: Phase) -> Meaning | None:
    if not phase.ways:
        return None
    return "capacity" if all(_share_through(phase, way) < SATURATED for way in phase.ways) else "usage"


def _notes(phase: Phase, frame: pl.DataFrame, begin_s: float) -> list[str]:
    lost_pct = 100 * float(frame["lost"].mean() or 0)  # type: ignore[arg-type]
    notes = [f"{lost_pct:.2f} % of {frame.height} probes got no answer."]
    if phase.ways:
        notes.append(f"The first {begin_s:.3f} s, before fillers came all ways, are cut.")
        notes.append("Probes went along with fillers: rtt_ms holds the queue that the recorder made.")
    return [*notes, *(note for way in phase.ways for note in _way_notes(phase, way))]


def _way_notes(phase: Phase, way: str) -> list[str]:
    sent, came = phase.meta[way]["sent_pkts"], phase.fillers(way)
    numbers = np.unique(came["number"])
    target_mbps, seconds = phase.asked["rate_mbps"], phase.meta["probes_sent"] * phase.step_s
    sent_mbps = sent * (phase.asked["packet_bytes"] + ETHERNET_BYTES) * 8e-6 / seconds
    notes = [
        f"{way}: {numbers.size} of {sent} fillers came ({100 - 100 * numbers.size / sent:.2f} % did not), sent at "
        f"{sent_mbps:.1f} of {target_mbps:g} Mb/s; rates count Ethernet headers, as tc does.",
        f"{way}: times are those of arrival: the link let a packet pass earlier, by the delay after it.",
    ]
    if _share_through(phase, way) >= SATURATED:
        notes.append(f"{way}: all that was sent came through: the rate is the sender's, no capacity.")
    if overtaken := int((np.diff(came["number"].astype(np.int64)) < 0).sum()):
        notes.append(f"{way}: {overtaken} times a filler overtook another.")
    if came.size > numbers.size:
        notes.append(f"{way}: {came.size - numbers.size} fillers came twice; copies are left out.")
    return notes
