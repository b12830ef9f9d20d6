# SPDX-License-Identifier: GPL-2.0-or-later
"""Hairpin's four columns: `seconds Mbps RTTms loss`, the unit glued to the RTT, the loss a share."""

import re
from pathlib import Path

from lab.traces.importers.clock import counted, ordered
from lab.traces.importers.importer import Head, Importer
from lab.traces.importers.table import BLANK, read_table
from lab.traces.recording import Recording

NUMBER = r"[-+.\deE]+"
ROW = re.compile(rf"^{NUMBER} {NUMBER} {NUMBER}ms {NUMBER}$")
NOTES = (
    "The rate is that of a cloud game's stream: usage, no capacity.",
    "Direction of the rate (down) is the format's, not stated in the file.",
)


def fits(head: Head) -> bool:
    """Recognise four columns with ms behind the third."""
    return bool(head.lines) and all(ROW.match(line.strip()) for line in head.lines)


def read(path: Path) -> Recording:
    """Read rate, RTT and share lost."""
    table = read_table(path, BLANK, ("seconds", "mbps", "rtt", "loss"))
    columns = [
        table.column("mbps", "rate_down_mbps"),
        table.column("rtt", "rtt_ms", suffix="ms"),
        table.column("loss", "loss_pct", scale=100.0),
    ]
    frame, notes = ordered(table, "seconds", counted(table, "seconds"), columns)
    return Recording(frame, "series", "usage", "hairpin", path.name, (*NOTES, *notes))


IMPORTERS = (Importer("hairpin", "seconds, Mb/s, RTT with ms, loss", fits, read),)
