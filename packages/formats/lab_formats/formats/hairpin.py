# SPDX-License-Identifier: GPL-2.0-or-later
"""Hairpin's four columns: `seconds Mbps RTTms loss`, where `ms` follows the RTT and the loss is a share."""

import re

from lab.traces.importer import Head
from lab_formats.preset import Preset
from lab_formats.reading.table import BLANK

NUMBER = r"[-+.\deE]+"
ROW = re.compile(rf"^{NUMBER} {NUMBER} {NUMBER}ms {NUMBER}$")


def fits(head: Head) -> bool:
    """Recognise four columns with ms behind the third."""
    return bool(head.lines) and all(ROW.match(line.strip()) for line in head.lines)


PRESET = Preset(
    name="hairpin",
    reads="seconds, Mb/s, RTT with ms, share lost",
    gives="usage, RTT, loss",
    fits=fits,
    separator=BLANK,
    header=("seconds", "mbps", "rtt", "loss"),
    columns="t_s=seconds, rate_down_mbps=mbps, rtt_ms=rtt, loss_pct=loss [share]",
    suffixes={"rtt_ms": "ms"},
    meaning="usage",
    values_have_ends=False,
    notes=(
        "The rate is that of a cloud game's stream: usage, no capacity.",
        "Direction of the rate (down) is the format's, not stated in the file.",
    ),
)
IMPORTERS = (PRESET.importer(),)
