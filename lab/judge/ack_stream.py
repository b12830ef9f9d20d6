# SPDX-License-Identifier: GPL-2.0-or-later
"""What each ACK reports to the sender: bytes delivered and its RTT sample, from the rows of tcp_probe.

tcp_probe shows the socket before an ACK is processed, so what the ACK changed stands in the row after it.
The kernel shows its smoothed RTT and not the sample itself: new = old + (sample - old) / 8 (RFC 6298,
in Linux with eight times the value kept, so that nothing is rounded away). The sample is that equation
solved for it, exact to some microseconds, because the kernel rounds the values that it shows. An ACK without a
sample leaves the smoothed RTT as it was, which then stands in for it.

Fed into the SEARCH core, this gives the bins and the exit that the kernel module recorded from the same ACKs.
"""

import polars as pl

GAIN = 8  # 1/alpha of RFC 6298


def ack_stream(acks: pl.DataFrame, flow: int = 1) -> pl.DataFrame:
    """t_us, rtt_us and delivered_bytes of each ACK that delivered data; the last ACK has no row after it."""
    before_ms, after_ms = pl.col("srtt_ms"), pl.col("srtt_ms").shift(-1)
    stream = acks.filter(pl.col("flow") == flow).select(
        t_us=(pl.col("t_s") * 1e6).round().cast(pl.Int64),
        rtt_us=((GAIN * after_ms - (GAIN - 1) * before_ms) * 1000).round().cast(pl.Int64),
        delivered_bytes=pl.col("snd_una_bytes").shift(-1),
    )
    # Byte 1 acknowledged is the SYN: the handshake's ACK delivers nothing.
    return stream.filter(pl.col("delivered_bytes") > 1).drop_nulls()


def windows(acks: pl.DataFrame, flow: int = 1) -> pl.DataFrame:
    """Time, window and RTT sample of each ACK that delivered data; its effects stand in the row after it."""
    before_ms, after_ms = pl.col("srtt_ms"), pl.col("srtt_ms").shift(-1)
    effects = acks.filter(pl.col("flow") == flow).select(
        "t_s",
        cwnd_pkts=pl.col("cwnd_pkts").shift(-1),
        rtt_ms=GAIN * after_ms - (GAIN - 1) * before_ms,
        delivered_bytes=pl.col("snd_una_bytes").shift(-1),
    )
    return effects.filter(pl.col("delivered_bytes") > 1).drop_nulls()
