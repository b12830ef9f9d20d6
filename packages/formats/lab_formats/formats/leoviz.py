# SPDX-License-Identifier: GPL-2.0-or-later
"""What a Starlink dish reports, as LEOViz writes it: without the share of lost probes."""

from lab_formats.preset import Preset, has_columns
from lab_formats.reading import dish

PRESET = Preset(
    name="leoviz",
    reads="CSV of LEOViz's dish status",
    gives="usage, RTT",
    fits=has_columns("timestamp", "popPingLatencyMs", "downlinkThroughputBps", "uplinkThroughputBps"),
    columns="t_s=timestamp, rate_down_mbps=downlinkThroughputBps [bit/s], rate_up_mbps=uplinkThroughputBps [bit/s], "
    "rtt_ms=popPingLatencyMs",
    missing=dish.MISSING,
    meaning="usage",
    notes=(dish.USAGE,),
)
IMPORTERS = (PRESET.importer(),)
