# SPDX-License-Identifier: GPL-2.0-or-later
"""RED: drops at random at arrival, by an average of the queue's length.

tc computes the average's weight from burst, avpkt and bandwidth, and the kernel keeps only the weight: these three are
not read back.
"""

from lab.node.qdiscs.qdisc_kind import (
    SHARE,
    Bottleneck,
    Field,
    Rule,
    Setting,
    TcKind,
    Values,
    buffer_bytes,
    share_of_buffer,
    wire_bytes,
)

WHOLE = 2**32  # of a probability, as the kernel counts it
ROUNDING = 0.05  # by which the kernel may round the probability


def _burst_pkts(values: Values, at: Bottleneck) -> int:
    return _advised_pkts(*_thresholds(values, at.buffer_bytes), at.frame_bytes)


def _thresholds(values: Values, buffer_bytes: int) -> tuple[int, int]:
    return round(values["min_share"] * buffer_bytes), round(values["max_share"] * buffer_bytes)


def _advised_pkts(least: int, most: int, frame_bytes: int) -> int:
    return round((2 * least + most) / (3 * wire_bytes(frame_bytes))) + 1  # tc-red(8)


def _average_fits(values: Values) -> bool:
    """Return whether tc finds a weight (tc_red_eval_ewma) that the kernel takes (red_check_params)."""
    least, most = _thresholds(values, values["buffer_bytes"])
    burst_pkts = _advised_pkts(least, most, values["frame_bytes"])
    behind_pkts = burst_pkts + 1 - least / wire_bytes(values["frame_bytes"])
    weights = range(1, 32 - most.bit_length())  # as powers of two
    return any(behind_pkts <= (1 - (1 - 0.5**bits) ** burst_pkts) * 2**bits for bits in weights)


def _probability_fits(values: Values) -> bool:
    """Return whether tc finds a scale (tc_red_eval_P), and the kernel's probability of a byte is near that of a real.

    The kernel divides whole numbers: the probability by the bytes between the thresholds (red_set_parms).
    """
    least, most = _thresholds(values, values["buffer_bytes"])
    of_byte: float = values["probability"] * WHOLE / max(most - least, 1)
    return of_byte > 2 and int(of_byte) >= (1 - ROUNDING) * of_byte


KIND = TcKind(
    (
        Setting("limit_bytes", "limit", value=buffer_bytes),
        Setting("min_bytes", "min", field=Field("min_share", float, None, SHARE), value=share_of_buffer("min_share")),
        Setting("max_bytes", "max", field=Field("max_share", float, None, SHARE), value=share_of_buffer("max_share")),
        Setting("avpkt_bytes", "avpkt", is_shown=False, value=lambda _, at: wire_bytes(at.frame_bytes)),
        Setting("burst_pkts", "burst", is_shown=False, value=_burst_pkts),
        Setting(
            "bandwidth_bps",
            "bandwidth",
            is_shown=False,
            value=lambda _, at: at.rate_bps,
            format=lambda bps: ["bandwidth", f"{round(bps)}bit"],
        ),
        Setting("probability", "probability", field=Field("probability", float, 0.02, {"gt": 0, "lt": 1})),
        Setting("ecn", "ecn", field=Field("ecn", bool, False), format=lambda on: ["ecn"] if on else []),
    ),
    queue="Random early detection; both thresholds are shares of the buffer.",
    rules=(Rule("a min_share below max_share", lambda values: values["min_share"] < values["max_share"]),),
    buffer_rules=(
        Rule(
            "one whose min_share of the buffer is more than the largest frame",
            lambda values: _thresholds(values, values["buffer_bytes"])[0] > wire_bytes(values["frame_bytes"]),
        ),
        Rule("one whose max_share the kernel's average can follow: take a smaller share or buffer", _average_fits),
        Rule(
            "one whose probability the kernel holds: it divides it by the bytes from min_share to max_share",
            _probability_fits,
        ),
    ),
    details=True,
)
