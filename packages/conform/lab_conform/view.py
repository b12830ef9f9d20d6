# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial as the measures of a case see it: arrays of one flow, and when each event of the case happened."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab.tables.downloads import FLOW
from lab.tables.stored_trial import Trial
from lab_conform.events import Link


class Unmeasured(Exception):
    """A trial that lacks what is measured; its text is the reason."""


def first(holds: NDArray[np.bool_], otherwise: str) -> int:
    """Return the first place at which something holds; Unmeasured for this reason where it never does."""
    found = np.flatnonzero(holds)
    if not len(found):
        raise Unmeasured(otherwise)
    return int(found[0])


def some(rows: pl.DataFrame, otherwise: str) -> pl.DataFrame:
    """Return a table that has rows; Unmeasured for this reason where it has none."""
    if not rows.height:
        raise Unmeasured(otherwise)
    return rows


REDUCING = ("recovery", "loss", "cwr")
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Packets:
    """Frames of one direction, as they come to the client or leave it."""

    t_s: Floats
    seq_bytes: Ints
    len_bytes: Ints
    ack_bytes: Ints
    sack_edges: Ints
    frame_bytes: Ints


@dataclass(frozen=True)
class View:
    """One trial of one case."""

    link: Link
    duration_s: int
    trial: Trial
    events_s: tuple[float, ...] = ()  # of each event, since the SYN
    dropped: tuple[tuple[int, ...], ...] = field(default=())  # of each event, the first bytes of lost segments

    @property
    def mss_bytes(self) -> int:
        return int(self.trial.meta["mss_bytes"])

    @property
    def rtt_s(self) -> float:
        """Return the RTT of the empty path."""
        return self.link.rtt_ms / 1e3

    @cached_property
    def acks(self) -> pl.DataFrame:
        """Return the kernel's record of each ACK of the download."""
        return self.trial.acks.filter(pl.col("flow") == FLOW)

    @cached_property
    def t_s(self) -> Floats:
        return self.acks["t_s"].to_numpy()

    @cached_property
    def cwnd_pkts(self) -> Floats:
        """Return the window before each ACK."""
        return self.acks["cwnd_pkts"].to_numpy().astype(float)

    @cached_property
    def ssthresh_pkts(self) -> Floats:
        """Return the threshold before each ACK, as the table has it; infinite where there is none."""
        return self.acks["ssthresh_pkts"].cast(pl.Float64).fill_null(np.inf).to_numpy()

    @cached_property
    def una_bytes(self) -> Ints:
        """Return the first byte that was not acknowledged before each ACK."""
        return self.acks["snd_una_bytes"].to_numpy()

    @cached_property
    def nxt_bytes(self) -> Ints:
        """Return the next byte to send before each ACK."""
        return self.acks["snd_nxt_bytes"].to_numpy()

    @cached_property
    def srtt_ms(self) -> Floats:
        """Return the smoothed RTT before each ACK."""
        return self.acks["srtt_ms"].to_numpy()

    @cached_property
    def states(self) -> list[tuple[float, str]]:
        """Return each change of the congestion state."""
        rows = self.trial.ca_states.filter(pl.col("flow") == FLOW)
        return list(zip(rows["t_s"].to_list(), rows["state"].to_list(), strict=True))

    @cached_property
    def reductions_s(self) -> list[float]:
        """Return when a loss, a mark or a timeout lowered the threshold; a segment that is lost again does not."""
        found: list[float] = []
        lost_bytes = -1  # at the last timeout, the first byte that was not acknowledged
        for t_s, state in self.states:
            una_bytes = int(self.una_bytes[min(self.after(t_s), len(self.una_bytes) - 1)])
            if state in REDUCING and not (state == "loss" and una_bytes == lost_bytes):
                found.append(t_s)
            lost_bytes = una_bytes if state == "loss" else lost_bytes
        return found

    @cached_property
    def repeats_s(self) -> Floats:
        """Return when segments were repeated."""
        return self.trial.retransmits.filter(pl.col("flow") == FLOW)["t_s"].to_numpy()

    @cached_property
    def exit(self) -> dict[str, object] | None:
        """Return the end of slow start; None while it lasts."""
        rows = self.trial.exits.filter(pl.col("flow") == FLOW)
        return rows.row(0, named=True) if rows.height else None

    @cached_property
    def data(self) -> Packets:
        """Return the data segments that came to the client."""
        return _packets(self.trial.packets.filter((pl.col("flow") == FLOW) & pl.col("to_client")), data=True)

    @cached_property
    def client_acks(self) -> Packets:
        """Return what the client sent after its handshake."""
        return _packets(self.trial.packets.filter((pl.col("flow") == FLOW) & ~pl.col("to_client")), data=False)

    def lost_bytes(self, event: int) -> int:
        """Return the first byte of the first segment that an event loses."""
        if not self.dropped[event]:
            raise Unmeasured(f"event {event} loses no packet")
        return self.dropped[event][0]

    def row(self, t_s: float) -> int:
        """Return the row of the first ACK at a time or later; Unmeasured where none comes."""
        if (row := self.after(t_s)) >= len(self.t_s):
            raise Unmeasured(f"no ACK comes after {t_s:.3f} s")
        return row

    def after(self, t_s: float) -> int:
        """Return the row of the first ACK at a time or later."""
        return int(np.searchsorted(self.t_s, t_s))


def _packets(rows: pl.DataFrame, data: bool) -> Packets:
    rows = rows.filter((pl.col("len_bytes") > 0) if data else (pl.col("t_s") > 0))
    names = ("seq_bytes", "len_bytes", "ack_bytes", "sack_edges", "frame_bytes")
    return Packets(rows["t_s"].to_numpy(), *(rows[name].cast(pl.Int64).fill_null(-1).to_numpy() for name in names))
