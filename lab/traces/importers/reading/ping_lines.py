# SPDX-License-Identifier: GPL-2.0-or-later
"""What the lines of ping's text are: each is known, or refused."""

from pathlib import Path

import polars as pl

from lab.traces.columns import SLOWEST_MS
from lab.traces.importers.reading.text import line_error

STAMP = r"^\^?C?(?:\[(?P<stamp>[^\]]*)\] ?)?"
REPLY = r"\d+ bytes from .+: icmp_seq=\d+ .*time=[0-9.]+ ms"
ANSWER = r"^\d+ bytes from (?:.+): icmp_seq=(?P<seq>\d+) (?:ttl|hlim)=\d+ time=(?P<rtt>\d+(?:\.\d+)?) ms(?P<more>.*)$"
UNREACHABLE = r"^From .+ icmp_seq=(?P<seq>\d+) (?:Destination|Time to live|Redirect|Packet filtered|Frag).*$"
SILENT = r"^(?:no answer yet for icmp_seq=|Request timeout for icmp_seq )(?P<seq>\d+)$"
START = r"^PING (?P<target>\S+) .*$"
SENT = r"^(?P<sent>\d+) packets transmitted, .*$"
TOTAL = r"time (?P<total>\d+) ?ms$"
OTHER = (
    r"^$|^--- .* ping statistics ---$|^(?:rtt|round-trip) min/avg/max.*$|^pipe \d+$|^(?:Start|End) time: \d+$"
    r"|^ping: .*$|^Warning: .*$|^Vr HL TOS .*$"
)
MOST_SENT = 100_000_000


def classify(path: Path, lines: list[str]) -> pl.DataFrame:
    """Take each line apart: line, stamp, and of seq, rtt_ms, twice, target, sent, total_ms what it has.

    UserError names the first line that ping does not write.
    """
    raw = pl.DataFrame(
        {"line": range(1, len(lines) + 1), "raw": pl.Series(lines, dtype=pl.String).str.strip_chars_end()}
    )
    rest = raw.with_columns(
        pl.col("raw").str.extract(STAMP, 1).alias("stamp"), pl.col("raw").str.replace(STAMP, "").alias("text")
    )
    text = pl.col("text")
    answer = text.str.extract_groups(ANSWER)
    parts = rest.select(
        "line",
        "raw",
        "stamp",
        pl.coalesce(answer.struct["seq"], text.str.extract(UNREACHABLE, 1), text.str.extract(SILENT, 1)).alias("seq"),
        answer.struct["rtt"].alias("rtt"),
        answer.struct["more"].alias("more"),
        text.str.extract(START, 1).alias("target"),
        text.str.extract(SENT, 1).alias("sent"),
        pl.when(text.str.contains(SENT)).then(text.str.extract(TOTAL, 1)).alias("total"),
        text.str.contains(OTHER).alias("other"),
    )
    _refuse_unknown(path, parts)
    return _numbers(path, parts)


def _refuse_unknown(path: Path, parts: pl.DataFrame) -> None:
    known = pl.any_horizontal(pl.col("seq", "target", "sent").is_not_null()) | pl.col("other")
    odd_end = pl.col("more").str.strip_chars().is_in(["", "(DUP!)"]).not_().fill_null(False)
    wrong = parts.filter(known.not_() | odd_end)
    if wrong.height:
        raise line_error(path, wrong["line"][0], "text", wrong["raw"][0], "a line that ping writes")


def _numbers(path: Path, parts: pl.DataFrame) -> pl.DataFrame:
    out = parts.select(
        "line",
        "stamp",
        pl.col("seq").cast(pl.Int64, strict=False),
        pl.col("rtt").cast(pl.Float64, strict=False).alias("rtt_ms"),
        pl.col("more").str.contains("DUP!", literal=True).fill_null(False).alias("twice"),
        "target",
        pl.col("sent").cast(pl.Int64, strict=False),
        pl.col("total").cast(pl.Float64, strict=False).alias("total_ms"),
    )
    for name, source, high in (("seq", "seq", 65_535), ("rtt_ms", "rtt", SLOWEST_MS), ("sent", "sent", MOST_SENT)):
        bad = (parts[source].is_not_null() & (out[name].is_null() | (out[name] > high))).fill_null(True).arg_true()
        if len(bad):
            raise line_error(path, out["line"][bad[0]], name, parts[source][bad[0]], f"at most {high:g}")
    return out
