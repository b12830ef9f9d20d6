# SPDX-License-Identifier: GPL-2.0-or-later
"""M-Lab's NDT7: rows of tcp_info that the sender read during the test, some four a second.

Of the server's result, or of what `ndt7-client -format json` prints: one event a line, with the server's readings.
"""

import re
from pathlib import Path

import polars as pl

from lab.base.errors import UserError
from lab.traces.columns import MOST_BYTES, SLOWEST_MS
from lab.traces.importer import Head, Importer
from lab.traces.recording import Recording
from lab_formats.reading.clock import shifted
from lab_formats.reading.counters import COARSE, limits, series
from lab_formats.reading.documents import Node, counted, documents

LONGEST_US, MOST_PKTS, MOST_MSS = 2**53, 1e9, 65_535


def fits(head: Head) -> bool:
    """Recognise the measurements of a server, in its result or among a client's events."""
    if re.match(r'\{"Key": *"\w+", *"Value": *\{', head.first):
        return '"Test"' in head.first
    return '"ServerMeasurements"' in "\n".join(head.lines) or (
        head.first.startswith("{") and '"ServerMeasurements"' in head.data.decode("utf-8", "ignore")
    )


def read(path: Path) -> Recording:
    """Read a download: what the server sent, by its own TCP."""
    rows = [_row(each) for each in _measured(documents(path), path) if (info := each.get("TCPInfo")) and info.value]
    if not rows:
        raise UserError(f"{path}: content: must have measurements of a download with the server's TCPInfo")
    for name, shown in (("acked_bytes", "BytesAcked"), ("t_s", "ElapsedTime")):
        if (pl.Series([row[name] for row in rows]).diff() < 0).any():
            raise UserError(f"{path}: {shown}: must not go back: the readings of one connection")
    frame = pl.DataFrame(rows).unique("t_s", keep="last", maintain_order=True)
    frame = frame.with_columns(pl.Series("t_s", shifted(frame["t_s"].to_numpy() - frame["t_s"][0], str(path))))
    notes = (COARSE, *limits(frame))
    return Recording(series(frame), "series", None, "ndt7", path.name, notes)


def _measured(found: list[Node], path: Path) -> list[Node]:
    """Return the measurements of a download; an upload's sender is the client, whose TCP the test does not show."""
    if found and not isinstance(found[0].value, list) and found[0].get("Key"):
        values = [one.at("Value") for one in found if (key := one.get("Key")) and key.value == "measurement"]
        return [value for value in values if value.at("Test").value == "download"]
    if len(found) != 1:
        raise UserError(f"{path}: content: must be one JSON document (has {len(found)}): one test a file")
    result = found[0]
    if isinstance(result.value, list) and len(result.value) == 1:  # of a query of M-Lab's tables
        result = next(result.items())
    test = result.get("raw") or result
    if not (download := test.get("Download")) or not download.value:
        raise UserError(
            f"{path}: Download: must be given: an upload's sender is the client; take a capture there (pcap)"
        )
    return list(download.at("ServerMeasurements").items())


def _row(measurement: Node) -> dict[str, float]:
    info = measurement.at("TCPInfo")

    def count(name: str, most: float = MOST_PKTS, least: float = 0) -> float:
        return counted(info.at(name)).number(least, most)

    return {
        "t_s": count("ElapsedTime", LONGEST_US) / 1e6,
        "acked_bytes": count("BytesAcked", MOST_BYTES),
        "rtt_ms": count("RTT", SLOWEST_MS * 1e3) / 1e3,
        "least_rtt_ms": count("MinRTT", SLOWEST_MS * 1e3) / 1e3,
        "sacked": count("Sacked") if info.get("Sacked") else 0.0,
        "inflight_bytes": count("Unacked") * count("SndMSS", MOST_MSS),
        "retransmits": count("TotalRetrans"),
        "cwnd_pkts": count("SndCwnd"),
        "mss_bytes": count("SndMSS", MOST_MSS, 1),
        "busy_ms": count("BusyTime", LONGEST_US) / 1e3,
        "window_ms": count("RWndLimited", LONGEST_US) / 1e3,
    }


IMPORTERS = (
    Importer(
        "ndt7",
        "JSON of M-Lab's NDT7, also of ndt7-client",
        "bytes acknowledged, delivered, in flight; RTT; retransmissions",
        fits,
        read,
    ),
)
