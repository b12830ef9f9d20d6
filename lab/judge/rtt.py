# SPDX-License-Identifier: GPL-2.0-or-later
"""The smallest round-trip time that the client's own capture shows.

Two sources, of which the smaller counts:

* the handshake: from the client's SYN to the server's SYN-ACK;
* the timestamp echo (RFC 7323, read passively as in Nichols' pping): from the first packet the client sent
  with a TSval to the first packet that came back with it as TSecr.

Packets that share one tick of the client's clock (1 ms) share a TSval. The first of them is taken on both sides, so a
sample can be up to one tick too long and never too short: the minimum is never below the true one.
"""

import polars as pl

from lab.base.stats import smallest
from lab.tables.packets import ACK, SYN


def min_rtt_ms(packets: pl.DataFrame, flow: int = 1) -> float | None:
    """Smallest RTT of the flow; null when neither the handshake nor any echo was captured."""
    of_flow = packets.lazy().filter(pl.col("flow") == flow)
    to_server, to_client = of_flow.filter(~pl.col("to_client")), of_flow.filter(pl.col("to_client"))
    samples = pl.concat([_handshake_ms(to_server, to_client), _echoes_ms(to_server, to_client)]).collect()
    return smallest(samples["rtt_ms"])


def _handshake_ms(to_server: pl.LazyFrame, to_client: pl.LazyFrame) -> pl.LazyFrame:
    """From the first SYN to the first SYN-ACK: too long, never too short, when the first SYN was lost."""
    flags = pl.col("flags") & (SYN | ACK)
    syn = to_server.filter(flags == SYN).select(sent_s=pl.col("t_s").first())
    syn_ack = to_client.filter(flags == (SYN | ACK)).select(back_s=pl.col("t_s").first())
    return _differences_ms(syn.join(syn_ack, how="cross"))


def _echoes_ms(to_server: pl.LazyFrame, to_client: pl.LazyFrame) -> pl.LazyFrame:
    sent = to_server.group_by("tsval").agg(sent_s=pl.col("t_s").min())
    back = to_client.filter((pl.col("flags") & ACK) != 0).group_by("tsecr").agg(back_s=pl.col("t_s").min())
    return _differences_ms(sent.join(back, left_on="tsval", right_on="tsecr"))


def _differences_ms(pairs: pl.LazyFrame) -> pl.LazyFrame:
    return pairs.select(rtt_ms=(pl.col("back_s") - pl.col("sent_s")) * 1000).filter(pl.col("rtt_ms") > 0)
