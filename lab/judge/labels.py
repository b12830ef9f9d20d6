# SPDX-License-Identifier: GPL-2.0-or-later
"""The names of the at-capacity heuristics as tables and figures print them."""

HEURISTICS = {
    "latency_offset": "latency offset",
    "median_throughput_1s": "median, first second",
    "median_throughput_after": "median, after slow start",
    "truth": "the true queue",
}
