# SPDX-License-Identifier: GPL-2.0-or-later
"""What a Starlink dish reports, as starlink-grpc-tools write it: status or bulk history, one row per reading."""

from lab_formats.preset import Preset, has_columns
from lab_formats.reading import dish

CLOCK = "datetimestamp_utc"

PRESET = Preset(
    name="starlink-grpc",
    reads="CSV of starlink-grpc-tools",
    gives="usage, RTT, loss",
    fits=has_columns(
        CLOCK, "pop_ping_latency_ms", "pop_ping_drop_rate", "downlink_throughput_bps", "uplink_throughput_bps"
    ),
    columns=dish.columns(CLOCK),
    missing=dish.MISSING,
    short_after="DISH_UNREACHABLE",
    full_loss_has_no_rtt=True,
    meaning="usage",
    notes=(dish.USAGE,),
)
IMPORTERS = (PRESET.importer(),)
