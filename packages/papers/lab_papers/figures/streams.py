# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes sent and delivered as the sender knew them at each ACK: what SEARCH's arithmetic is drawn from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

Floats = npt.NDArray[np.float64]


@dataclass
class Streams:
    """The ACKs of one flow; tcp_probe shows the socket before an ACK: what the ACK changed is in the row after it."""

    acks: pl.DataFrame

    @cached_property
    def table(self) -> pl.DataFrame:
        """t_s, delivered_bytes, sent_bytes: after each ACK."""
        after_ack = self.acks.select(
            "t_s", delivered_bytes=pl.col("snd_una_bytes").shift(-1), sent_bytes=pl.col("snd_nxt_bytes").shift(-1)
        )
        return after_ack.drop_nulls()

    def delivered(self, t_s: npt.ArrayLike) -> Floats:
        """Bytes acknowledged until each time."""
        return self._held("delivered_bytes", t_s)

    def sent(self, t_s: npt.ArrayLike) -> Floats:
        """Bytes sent until each time."""
        return self._held("sent_bytes", t_s)

    def _held(self, column: str, t_s: npt.ArrayLike) -> Floats:
        index = np.searchsorted(self.table["t_s"].to_numpy(), np.asarray(t_s), "right") - 1
        values = self.table[column].to_numpy().astype(np.float64)
        return np.where(index < 0, 0.0, values[np.maximum(index, 0)])
