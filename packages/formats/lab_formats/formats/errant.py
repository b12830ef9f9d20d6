# SPDX-License-Identifier: GPL-2.0-or-later
"""ERRANT's speed tests: one row per test, no clock."""

from lab_formats.preset import Preset, has_columns
from lab_formats.reading.iperf3_tests import GOODPUT

LABELS = ("operator", "country", "access_technology")

PRESET = Preset(
    name="errant",
    reads="CSV of ERRANT's speed tests, no clock",
    gives="samples of goodput and RTT",
    fits=has_columns(*LABELS, "rssi", "download_mbps", "upload_mbps", "rtt_ms"),
    columns="rate_down_mbps=download_mbps, rate_up_mbps=upload_mbps, rtt_ms=rtt_ms",
    labels=LABELS,
    meaning="goodput",
    notes=("No clock: samples to draw from, no series.", GOODPUT),
)
IMPORTERS = (PRESET.importer(),)
