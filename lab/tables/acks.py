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
    *"established syn_sent syn_recv fin_wait1 fin_wait2 time_wait close".split(),
    *"close_wait last_ack listen closing new_syn_recv".split(),
)


TRACED: Columns = {"t_s": SYN_S, "flow": FLOW}
UNSAID = "null where a stack's qlog does not say"
ACKS: Columns = {
    **TRACED,
    "cwnd_pkts": Column(pl.UInt32, "congestion window"),
    "ssthresh_pkts": Column(  # of tcp_current_ssthresh()
        pl.UInt32,
        "slow start threshold, of a kernel's sender at least 3/4 of the window but in CWR and recovery; "
        "null while there is none",
    ),
    "srtt_ms": Column(pl.Float64, f"smoothed round trip; {UNSAID}"),
    "snd_una_bytes": Column(
        pl.Int64, f"first byte that is not acknowledged, counted from the SYN, without wraps; {UNSAID}"
    ),
    "snd_nxt_bytes": Column(pl.Int64, f"next byte to send, counted so; {UNSAID}"),
    "snd_wnd_bytes": Column(pl.UInt32, f"receive window, as the sender knows it; {UNSAID}"),
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
        return {"t_s": pl.Series((events["t_ns"] - self.start_ns) / 1e9), "flow": pl.Series(self.flow(events))}

    def flow(self, events: np.ndarray) -> np.ndarray:
        """Return the flow of each event; that of another connection is 0, as that of the control connection is."""
        of_port = np.zeros(1 << 16, dtype=np.uint8)
        of_port[list(self.flows)] = list(self.flows.values())
        return np.asarray(of_port[events["dport"]])


def _data_flows(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.col("flow") > 0)


def ack_table(events: Events, clock: Clock, server_isn: dict[int, int]) -> pl.DataFrame:
    """tcp:tcp_probe, one row an ACK, as the socket was before it took the ACK in."""
    probe = events["tcp:tcp_probe"]
    flow = clock.flow(probe)
    rows, flow = np.flatnonzero(flow), flow[flow > 0]
    acked = probe["snd_una"][rows]
    table = pl.DataFrame(
        {
            "t_s": (probe["t_ns"][rows] - clock.start_ns) / 1e9,
            "flow": flow,
            "cwnd_pkts": probe["snd_cwnd"][rows],
            "ssthresh_pkts": probe["ssthresh"][rows],
            "srtt_ms": probe["srtt"][rows] / 1e3,
            "snd_una_bytes": _relative(acked, acked, flow, server_isn),
            "snd_nxt_bytes": _relative(probe["snd_nxt"][rows], acked, flow, server_isn),
            "snd_wnd_bytes": probe["snd_wnd"][rows],
        }
    )
    return table.with_columns(finite("ssthresh_pkts"))


def _relative(numbers: np.ndarray, acked: np.ndarray, flow: np.ndarray, server_isn: dict[int, int]) -> np.ndarray:
    """Count bytes from the SYN, or, of a flow that was not captured, from what its first ACK found to be sent."""
    found = np.zeros(len(numbers), dtype=np.int64)
    for number in np.unique(flow):
        own = flow == number
        isn = server_isn.get(int(number), int(acked[own][0]) - 1)
        found[own] = unwrap(numbers[own].astype(np.int64), isn)
    return found


def finite(name: str) -> pl.Expr:
    """Read "no threshold yet" as missing."""
    return pl.when(pl.col(name) < INFINITE_SSTHRESH).then(pl.col(name)).alias(name)


def retransmit_table(events: Events, clock: Clock) -> pl.DataFrame:
    """tcp:tcp_retransmit_skb, one row a retransmitted buffer, which may hold many segments (iperf3 counts those).

    Those of control connections are flow 0: the node's count has them, and the stored table has not.
    """
    sent = events["tcp:tcp_retransmit_skb"]
    return pl.DataFrame(clock.base(sent) | {"state": _named(sent["state"], SOCKET_STATES)})


def state_table(events: Events, clock: Clock) -> pl.DataFrame:
    """tcp:tcp_cong_state_set, one row a change of the congestion state."""
    sets = events["tcp:tcp_cong_state_set"]
    return _data_flows(pl.DataFrame(clock.base(sets) | {"state": _named(sets["cong_state"], CA_STATES)}))


def _named(numbers: np.ndarray, names: tuple[str, ...]) -> pl.Series:
    return pl.Series([names[n] for n in numbers], dtype=pl.String)
