# SPDX-License-Identifier: GPL-2.0-or-later
"""What a Starlink dish reports over gRPC, in any file."""

USAGE = "Throughput is what users happened to send: usage, no capacity."
NO_ANSWER = ("", "-1", "-1.0")  # in the column of the latency
EMPTY = ("",)


def columns(clock: str, prefix: str = "") -> str:
    """Name the columns of a dish's status or history."""
    return (
        f"t_s={clock} [date], rate_down_mbps={prefix}downlink_throughput_bps [bit/s], "
        f"rate_up_mbps={prefix}uplink_throughput_bps [bit/s], rtt_ms={prefix}pop_ping_latency_ms, "
        f"loss_pct={prefix}pop_ping_drop_rate [share]"
    )


MISSING = {"rate_down_mbps": EMPTY, "rate_up_mbps": EMPTY, "rtt_ms": NO_ANSWER, "loss_pct": EMPTY}
