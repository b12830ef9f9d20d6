# SPDX-License-Identifier: GPL-2.0-or-later
"""acks, retransmits, ca_states and bins: the server's tracepoints as tables, aligned with the capture."""

import numpy as np
import polars as pl

from lab.tables.columns import FLOW, SYN_S, Column, Columns
from lab.tables.packets import unwrap
from lab.tables.trace import Events

INFINITE_SSTHRESH = 0x7FFFFFFF  # TCP_INFINITE_SSTHRESH, include/net/tcp.h
CA_STATES = ("open", "disorder", "cwr", "recovery", "loss")  # enum tcp_ca_state, include/uapi/linux/tcp.h
SOCKET_STATES = (
    "",
    "established",
    "syn_sent",
    "syn_recv",
    "fin_wait1",
    "fin_wait2",
    "time_wait",
    "close",
    "close_wait",
    "last_ack",
    "listen",
    "closing",
    "new_syn_recv",
)


TRACED: Columns = {"t_s": SYN_S, "flow": FLOW}
ACKS: Columns = {
    **TRACED,
    "cwnd_pkts": Column(pl.UInt32, "congestion window"),
    "ssthresh_pkts": Column(pl.UInt32, "slow start threshold; null while there is none"),
    "srtt_ms": Column(pl.Float64, "smoothed round trip"),
    "snd_una_bytes": Column(pl.Int64, "first byte that is not acknowledged, counted from the SYN, without wraps"),
    "snd_nxt_bytes": Column(pl.Int64, "next byte to send, counted so"),
    "snd_wnd_bytes": Column(pl.UInt32, "receive window, as the sender knows it"),
}
RETRANSMITS: Columns = {**TRACED, "state": Column(pl.String, "state of the socket (established, ...)")}
STATES: Columns = {**TRACED, "state": Column(pl.String, f"the state entered: {', '.join(CA_STATES)}")}


class Clock:
    """Brings trace times to t_s, and the client's ports to flows."""

    def __init__(self, start_ns: int, flows: dict[int, int]) -> None:
        """start_ns: t_s = 0 on the trace's clock; flows: the client's port -> flow."""
        self.start_ns = start_ns
        self.flows = flows

    def base(self, events: np.ndarray) -> dict[str, pl.Series]:
        """Return the columns that every table begins with."""
        flow = pl.Series(events["dport"].astype(np.int64)).replace_strict(
            self.flows, default=None, return_dtype=pl.UInt8
        )
        return {"t_s": pl.Series((events["t_ns"] - self.start_ns) / 1e9), "flow": flow}


def _data_flows(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.col("flow") > 0)


def ack_table(events: Events, clock: Clock, server_isn: dict[int, int]) -> pl.DataFrame:
    """tcp:tcp_probe, one row an ACK, as the socket was before it took the ACK in."""
    probe = events["tcp:tcp_probe"]
    table = _data_flows(
        pl.DataFrame(
            clock.base(probe)
            | {
                "cwnd_pkts": probe["snd_cwnd"],
                "ssthresh_pkts": probe["ssthresh"],
                "srtt_ms": probe["srtt"] / 1e3,
                "snd_una_bytes": probe["snd_una"].astype(np.int64),
                "snd_nxt_bytes": probe["snd_nxt"].astype(np.int64),
                "snd_wnd_bytes": probe["snd_wnd"],
            }
        )
    )
    relative = [_relative(part, server_isn.get(flow)) for (flow,), part in table.group_by("flow", maintain_order=True)]
    table = pl.concat(relative) if relative else table
    return table.sort("t_s", maintain_order=True).with_columns(finite("ssthresh_pkts"))


def _relative(flow: pl.DataFrame, isn: int | None) -> pl.DataFrame:
    """Count bytes from the SYN, or, of a flow that was not captured, from what its first ACK found to be sent."""
    if isn is None:
        isn = int(flow["snd_una_bytes"][0]) - 1
    return flow.with_columns(
        pl.Series(name, unwrap(flow[name].to_numpy(), isn)) for name in ("snd_una_bytes", "snd_nxt_bytes")
    )


def finite(name: str) -> pl.Expr:
    """Read "no threshold yet" as missing."""
    return pl.when(pl.col(name) < INFINITE_SSTHRESH).then(pl.col(name)).alias(name)


def retransmit_table(events: Events, clock: Clock) -> pl.DataFrame:
    """tcp:tcp_retransmit_skb, one row a retransmitted buffer, which may hold many segments (iperf3 counts those)."""
    sent = events["tcp:tcp_retransmit_skb"]
    return _data_flows(pl.DataFrame(clock.base(sent) | {"state": _named(sent["state"], SOCKET_STATES)}))


def state_table(events: Events, clock: Clock) -> pl.DataFrame:
    """tcp:tcp_cong_state_set, one row a change of the congestion state."""
    sets = events["tcp:tcp_cong_state_set"]
    return _data_flows(pl.DataFrame(clock.base(sets) | {"state": _named(sets["cong_state"], CA_STATES)}))


def _named(numbers: np.ndarray, names: tuple[str, ...]) -> pl.Series:
    return pl.Series([names[n] for n in numbers], dtype=pl.String)
