# SPDX-License-Identifier: GPL-2.0-or-later
"""What the lines of ping's text are: each is known, or refused."""

from pathlib import Path

import polars as pl

from lab.traces.columns import SLOWEST_MS
from lab_formats.reading.text import line_error

_TIME = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"
_ZONE = r"(?: [AP]M)?(?: (?:[A-Z]{2,4}[ABCKT]|[+-]\d\d(?:\d\d)?))?"  # neither PING nor ICMP
CLOCK = (  # before a line: of --apple-time, ts, date, and loggers
    rf"{_TIME}|\d{{9,10}}(?:\.\d+)?|\d{{13}}|\d{{16}}|\d{{19}}|\d{{1,8}}\.\d+"
    rf"|\d{{4}}[-/.]\d\d[-/.]\d\d[T _-]{_TIME}(?:Z|[+-]\d\d:?\d\d)?|\d{{1,2}}\.\d{{1,2}}\.\d{{4}},? {_TIME}"
    rf"|(?:[A-Z][a-z]{{2}} )?[A-Z][a-z]{{2}} [ \d]\d {_TIME}{_ZONE}(?: \d{{4}})?"
    rf"|(?:[A-Z][a-z]{{2}},? )?\d{{1,2}} [A-Z][a-z]{{2}} \d{{4}} {_TIME}{_ZONE}"
)
_OF_A_JOURNAL = r"(?:\S+ [\w.-]+\[\d+\]: )?"  # the machine, and the program with its number
STAMP = rf"^\^?C?(?:(?:\[([^\]]*)\] ?|({CLOCK})(?: ?[:|,;-] +|:? +|\t)){_OF_A_JOURNAL})?"
# iputils translates all words of a line, "icmp_seq", "ttl", "time" and "ms" too
_SEQ = r"(?:(?:icmp_)?[rs]eq|pořadí) ?[ =](?P<seq>\d+)"
_MS = r"(?:ms|mts|毫秒|ミリ秒|мс|밀리초|مللي|მწმ)"
_RTT = rf"\S{{1,12}}=(?P<rtt>\d+(?:[.,]\d+)?) ?{_MS}"
REPLY = (
    rf"\d+ ?\D.+[:,\x{{FF1A}}] ?(?:(?:icmp_)?[rs]eq|pořadí) ?=\d+.* \S{{1,12}}=[0-9.,]+ ?{_MS}"
    r"|^(?:\[[^\]]*\] ?)?\S+ +: \[\d+\], \d+ bytes, [0-9.]+ ms \(|^PING6? ?\S* ?\("
)
ANSWER = (
    rf"^(?P<who>\d+ ?[^\W\d].*)[:,\x{{FF1A}}] ?{_SEQ}\.?(?: ident=\d+)?(?: (?i:ttl|hlim) ?=\d+)? {_RTT}(?P<more>.*)$"
)
FPING = (
    r"^(?P<target>\S+) +: (?:duplicate for )?\[(?P<seq>\d+)\], (?:\d+ bytes, (?P<rtt>\d+(?:\.\d+)?) ms|timed out)"
    r"(?: \([^()]*\))?$"
)
_ADDRESS = r"\d+(?:\.\d+){3}|[0-9a-f]{1,4}:[0-9a-f:]*:"  # before which some languages have no word
TWICE = r"\(DUP!\)|: duplicate for \["
UNANSWERED = rf"^(?:\D|{_ADDRESS}).*\b{_SEQ}\b.*$"  # unreachable, expired, timed out, no answer yet
TIMED_OUT = r"^Request (\d+) timed out$"  # Cisco NX-OS
START = r"^(?:PING6?|Ping)(?: +(?P<target>\S+) .*|\(.*\) .*--> (?P<target6>\S+))$"
SENT = r"^\D{0,20}(?P<sent>\d+)[ ,][^:]*(?:\d ?%|% ?\d).*$"
TOTAL = rf" (?P<total>\d+) ?{_MS}$"
OTHER = (
    r"^$|^-{2,4}.*-{2,4}$|^\S+(?: \S+)? min/avg/max.*$|^[^\d/]+/[^\d/]+/\D+ ?[\d.,]+/[\d.,]+/.*$"
    r"|^pipe \d+\b.*$|^[.E\x08 ]+$|^\r?\d+/\d+ packets, .*$|^(?:Start|End) time: \d+$"
    r"|^ping6?: .*$|^(?i:warning): .*$|^PATTERN: .*$|^ai->ai_family: .*$|^wrong data byte .*$|^#\d+\t.*$"
    r"|^Vr HL TOS .*$|^ \d +\d +[0-9a-f]{2} +[0-9a-f]{4} .*$"
    r"|^(?:RR|TS): .*$|^\t\S.*$"  # routes and time stamps
    r"|^\d+ bytes from .+: (?:Destination|Time to live|Redirect|Communication|Source Quench).*$"
    r"|^Request time out$|^Timeout \.\.\.$"  # of routers: the numbers of the answers show what was lost
    r"|^ICMP .* for ICMP Echo sent to .*$|^\S+ +: xmt/rcv/%loss = .*$|^\S+ +: (?:[\d.]+|-)(?: (?:[\d.]+|-))*$"
    r"|^.*[$#%>] ?(?:\S+=\S* |sudo )*\S*ping6? .*$|^\S*(?: \S+)?[$#%]$|^Script (?:started|done) .*$"  # a terminal's
)
KNOWN = "a line that ping writes, with its time (-s 16 or more), alone or behind a clock such as 2026-11-25T10:15:00.5"
BAD_SUM = "(BAD CHECKSUM!)"  # which ping does not count as received
ODD_ENDS = ("", "(DUP!)", "(same route)", "(truncated)", "(DIFFERENT ADDRESS!)", BAD_SUM)
MOST_SENT = 100_000_000


def classify(path: Path, lines: list[str]) -> pl.DataFrame:
    """Take each line apart: line, stamp, and of seq, rtt_ms, who, twice, target, sent, total_ms what it has.

    UserError names the first line that ping does not write. A last line that is cut is left out.
    """
    raw = pl.DataFrame({"line": range(1, len(lines) + 1), "raw": pl.Series(lines, dtype=pl.String)}).with_columns(
        pl.col("raw").str.replace_all("[\u00a0\u202f\u3000\x07]", " ")
    )
    rest = raw.with_columns(  # the blank behind the clock of an empty line is part of the clock
        pl.coalesce(pl.col("raw").str.extract(STAMP, 1), pl.col("raw").str.extract(STAMP, 2)).alias("stamp"),
        pl.col("raw").str.replace(STAMP, "").str.strip_chars_end().alias("text"),
    )
    text = pl.col("text")
    answer, fping = text.str.extract_groups(ANSWER), text.str.extract_groups(FPING)
    parts = rest.select(
        "line",
        "raw",
        "stamp",
        pl.coalesce(
            answer.struct["seq"],
            fping.struct["seq"],
            pl.when(~text.str.contains(_RTT)).then(text.str.extract(UNANSWERED, 1)),
            text.str.extract(TIMED_OUT, 1),
        ).alias("seq"),
        pl.when(~text.str.ends_with(BAD_SUM))
        .then(pl.coalesce(answer.struct["rtt"], fping.struct["rtt"]).str.replace(",", ".", literal=True))
        .alias("rtt"),
        fping.struct["target"].alias("host"),
        answer.struct["who"].alias("who"),
        answer.struct["more"].alias("more"),
        text.str.contains(TWICE).alias("twice"),
        pl.coalesce(text.str.extract(START, 1), text.str.extract(START, 2)).alias("target"),
        text.str.extract(SENT, 1).alias("sent"),
        pl.when(text.str.contains(SENT)).then(text.str.extract(TOTAL, 1)).alias("total"),
        text.str.contains(OTHER).alias("other"),
    )
    parts = _without_a_cut_line(parts)
    _refuse_unknown(path, parts)
    return _numbers(path, parts)


def _known() -> pl.Expr:
    return pl.any_horizontal(pl.col("seq", "target", "sent").is_not_null()) | pl.col("other")


def _without_a_cut_line(parts: pl.DataFrame) -> pl.DataFrame:
    """Leave the last line out where it is none that ping writes: a log that is copied while ping runs ends so."""
    return parts if parts.height < 2 or parts[-1:].select(_known()).item() else parts[:-1]


def _refuse_unknown(path: Path, parts: pl.DataFrame) -> None:
    odd_end = pl.col("more").str.strip_chars().is_in(ODD_ENDS).not_().fill_null(False)
    wrong = parts.filter(_known().not_() | odd_end)
    if wrong.height:
        raise line_error(path, wrong["line"][0], "text", wrong["raw"][0], KNOWN)
    hosts = parts.filter(pl.col("host").is_not_null())
    if hosts["host"].n_unique() > 1:
        other = hosts.filter(pl.col("host") != hosts["host"][0])
        raise line_error(path, other["line"][0], "target", other["host"][0], f"{hosts['host'][0]}: one target of fping")


def _numbers(path: Path, parts: pl.DataFrame) -> pl.DataFrame:
    out = parts.select(
        "line",
        "stamp",
        pl.col("seq").cast(pl.Int64, strict=False),
        pl.col("rtt").cast(pl.Float64, strict=False).alias("rtt_ms"),
        "who",
        "twice",
        "target",
        pl.col("sent").cast(pl.Int64, strict=False),
        pl.col("total").cast(pl.Float64, strict=False).alias("total_ms"),
    )
    for name, source, high in (("seq", "seq", 65_535), ("rtt_ms", "rtt", SLOWEST_MS), ("sent", "sent", MOST_SENT)):
        bad = (parts[source].is_not_null() & (out[name].is_null() | (out[name] > high))).fill_null(True).arg_true()
        if len(bad):
            raise line_error(path, out["line"][bad[0]], name, parts[source][bad[0]], f"at most {high:g}")
    return out
