# SPDX-License-Identifier: GPL-2.0-or-later
"""Packet numbers from both ends' qlogs: when the server sent each packet that the client received, as a time stamp.

A qlog is JSON-SEQ (RFC 7464): a record a line. Only packets of data (1RTT) are read, so a line's fields are few and
always in the same order.
"""

from pathlib import Path

import polars as pl

from lab.base.errors import UserError
from lab.base.plain_file import GIGABYTE, read_plain

MOST_MS = 2**32  # of a time stamp
FIELDS = r'"time":(?<time>[0-9.e+-]+),"name":"transport:packet_NAME".*"1RTT","packet_number":(?<pn>\d+)'


def sent_ms(server: Path, client: Path, datagrams: int) -> pl.Series:
    """Return the tick of the server's clock, in ms, at which each of the datagrams was sent that the client got.

    Behind the handshake a datagram holds one packet of data: the last ones are counted from the end. Null for others.
    """
    sent = _packets(server, "sent").unique("pn", keep="first")
    got = _packets(client, "received").tail(datagrams).select("pn")
    known = got.join(sent, on="pn", how="left", maintain_order="left")["time"]
    first = pl.Series("time", [None] * (datagrams - len(known)), dtype=pl.Float64)
    return pl.concat([first, known]).floor().cast(pl.UInt32)


def _packets(file: Path, name: str) -> pl.DataFrame:
    text = read_plain(file, 8 * GIGABYTE).decode(errors="replace")
    lines = pl.Series("line", text.splitlines(), pl.String).to_frame()
    found = lines.select(pl.col("line").str.extract_groups(FIELDS.replace("NAME", name))).unnest("line")
    table = found.drop_nulls().cast({"time": pl.Float64, "pn": pl.Int64}, strict=False)
    if not (table["time"].is_between(0, MOST_MS, closed="left") & table["pn"].is_not_null()).fill_null(False).all():
        raise UserError(f"{file}: packet: must have a number, and a time from 0 to {MOST_MS} ms")
    return table
