# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of ping on one clock, one row per probe that was sent."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lab.base.errors import UserError, field_error
from lab.traces.columns import LONGEST_S
from lab_formats.reading.clock import Seconds
from lab_formats.reading.ping_lines import MOST_SENT
from lab_formats.reading.text import line_error

Whole = NDArray[np.int64]
WRAP = 65_536  # icmp_seq has 16 bits
COMMON_S, DAY_S = 1.0, 86_400.0
MOST_NOTES = 8  # of runs without a clock
ZONE = r" ([A-Z]{3,5}|[+-]\d\d(?:\d\d)?)(?: \d{4})?$"  # which `date` writes behind the time
UNHEADED = (
    "Runs without a heading show no probe behind their last answer, and none of a run without one: more may be lost."
)
CLOCKED = "t_s is when a probe was sent: the line's clock less the RTT; lost probes lie evenly between."


@dataclass(frozen=True)
class Run:
    """One run: its lines, and its head and statistics."""

    lines: pl.DataFrame  # line, stamp, seq, rtt_ms; in the file's order
    target: str | None  # None where the file begins during a run
    sent: int | None  # None where the statistics are missing
    total_ms: float | None

    @property
    def is_answered(self) -> bool:
        return bool(self.lines["rtt_ms"].count())


def runs_of(path: Path, lines: pl.DataFrame) -> list[Run]:
    """Split the lines where ping starts again: at its heading, or where its first number is answered again."""
    number = lines["target"].is_not_null().cum_sum() + _begins_again(path, lines).cum_sum()
    runs = []
    for part in lines.with_columns(number.alias("run")).partition_by("run", maintain_order=True):
        probes = part.filter(pl.col("seq").is_not_null())
        first = [part[name].drop_nulls().head(1).to_list() for name in ("target", "sent", "total_ms")]
        target, sent, total = (values[0] if values else None for values in first)
        if probes.height or sent:
            runs.append(Run(probes.select("line", "stamp", "seq", "rtt_ms"), target, sent, total))
    if not any(run.is_answered for run in runs):
        raise UserError(f"{path}: content: must be ping's text with at least one answer: a line per probe")
    return runs


def _begins_again(path: Path, lines: pl.DataFrame) -> pl.Series:
    """Return at which lines the first answered number stands again, and is not said to be a duplicate.

    A log that holds the answers alone shows a new run so. UserError where another host answers the same number.
    """
    again = np.zeros(lines.height, dtype=np.int64)
    columns = (lines[name].to_list() for name in ("line", "seq", "rtt_ms", "who", "twice", "target"))
    answered: dict[int, str | None] = {}
    before = 0
    for row, (line, seq, rtt_ms, who, twice, target) in enumerate(zip(*columns, strict=True)):
        if target is not None:
            answered, before = {}, 0
        if rtt_ms is None or twice:
            continue
        if before - seq > WRAP // 2:
            answered = {}
        before = seq
        if seq not in answered:
            answered[seq] = who
            continue
        if who != answered[seq]:
            raise line_error(path, line, "text", who, f"{answered[seq]}, as before: the answers of one host")
        if seq == next(iter(answered)):
            again[row], answered = 1, {seq: who}
    return pl.Series(again)


def on_one_clock(path: Path, runs: list[Run], interval_s: float | None) -> tuple[pl.DataFrame, list[str]]:
    """Put all runs on one clock: t_s, rtt_ms, lost."""
    stamped = {run.lines["stamp"].drop_nulls().len() > 0 for run in runs if run.is_answered}
    if len(stamped) > 1:
        raise UserError(f"{path}: session: must be given, for only some of the runs have a clock")
    tables, notes = [], [f"{len(runs)} runs in one file."] if len(runs) > 1 else []
    notes += [UNHEADED] * any(run.target is None for run in runs[1:])
    for run in runs:
        probes, found = _probes(path, run)
        notes += found
        tables.append(probes)
    if stamped == {True}:
        if interval_s is not None:
            raise field_error(path, "interval_s", interval_s, "left out: the lines have a clock")
        timed = _by_clock(path, tables)
        notes.append(CLOCKED)
    else:
        timed = _by_number(path, runs, tables, interval_s, notes)
    frame = pl.concat(timed)
    frame = frame.with_columns(pl.Series("t_s", _between(frame["t_s"].to_numpy())))
    frame = frame.with_columns(pl.col("t_s") - frame["t_s"][0])
    lost = int(frame["lost"].sum())
    notes.append(f"{lost} of {frame.height} probes lost ({100 * lost / frame.height:.2f} %), missing in rtt_ms.")
    return frame, notes


def _by_clock(path: Path, tables: list[pl.DataFrame]) -> list[pl.DataFrame]:
    """Time each run by the clocks of its answers, which go on from run to run; one without an answer has no times."""
    stamps = _stamps(path, pl.concat(tables).filter(pl.col("rtt_ms").is_not_null()))
    timed, begin = [], 0
    for probes in tables:
        end = begin + int(probes["rtt_ms"].count())
        unknown = _rows(np.full(probes.height, np.nan), probes)
        timed.append(by_stamp(path, probes, stamps[begin:end]) if end > begin else unknown)
        begin = end
    return timed


def _between(t_s: Seconds) -> Seconds:
    """Lay the probes of runs without an answer, whose times are NaN, evenly between those of the others."""
    place, known = np.arange(len(t_s)), np.flatnonzero(~np.isnan(t_s))
    beyond = np.minimum(place - known[0], 0) + np.maximum(place - known[-1], 0)
    out: Seconds = np.interp(place, known, t_s[known]) + COMMON_S * beyond
    return out


def _probes(path: Path, run: Run) -> tuple[pl.DataFrame, list[str]]:
    """Return each probe once, in the order sent: line, stamp, seq (unwrapped), rtt_ms; rtt_ms null where lost."""
    lines = run.lines.with_columns(pl.Series("seq", _unwrapped(run.lines["seq"].to_numpy())))
    answers = lines.filter(pl.col("rtt_ms").is_not_null())
    once = answers.unique("seq", keep="first", maintain_order=True)
    notes = [f"{answers.height - once.height} duplicates left out."] if answers.height > once.height else []
    if late := int((once["seq"].diff(null_behavior="drop") < 0).sum()):
        notes.append(f"{late} answers came after later ones: sorted by icmp_seq.")
    numbers = [int(number) for number in lines["seq"]] or [1]
    first = min(1, min(numbers)) if run.target else min(numbers)
    last = max(max(numbers), (run.sent or 0) + first - 1)
    if last - first >= MOST_SENT or (run.sent is not None and once.height > run.sent):
        raise field_error(path, "packets transmitted", run.sent, f"at least the {once.height} probes answered")
    every = pl.DataFrame({"seq": pl.Series(range(first, last + 1), dtype=pl.Int64)})
    return every.join(once.select("seq", "line", "stamp", "rtt_ms"), on="seq", how="left", maintain_order="left"), notes


def _unwrapped(seq: Whole) -> Whole:
    jumps = np.diff(seq, prepend=seq[:1])
    return np.asarray(seq + WRAP * np.cumsum((jumps < -WRAP // 2).astype(np.int64) - (jumps > WRAP // 2)))


def by_stamp(path: Path, probes: pl.DataFrame, stamps: pl.Series | None = None) -> pl.DataFrame:
    """Return t_s, rtt_ms, lost of probes of which line, seq, stamp and rtt_ms are known; `stamps`: in seconds."""
    answered = probes.filter(pl.col("rtt_ms").is_not_null())
    stamps = _stamps(path, answered) if stamps is None else stamps
    sent_s = stamps.to_numpy() - answered["rtt_ms"].to_numpy() / 1e3
    if np.all(stamps.to_numpy() % 1 == 0) and np.any(np.diff(sent_s) <= 0) and stamps[-1] > stamps[0]:
        sent_s = np.interp(
            answered["seq"].to_numpy(), answered["seq"][[0, -1]].to_numpy(), sent_s[[0, -1]]
        )  # a clock of whole seconds
    _refuse_backward(path, answered, sent_s)
    seq = answered["seq"].to_numpy()
    pace = float(np.median(np.diff(sent_s) / np.diff(seq))) if len(seq) > 1 else COMMON_S
    every = probes["seq"].to_numpy()
    t_s = np.interp(every, seq, sent_s) + pace * (np.minimum(every - seq[0], 0) + np.maximum(every - seq[-1], 0))
    return _rows(t_s, probes)


def _refuse_backward(path: Path, answered: pl.DataFrame, sent_s: Seconds) -> None:
    back = np.flatnonzero(np.diff(sent_s) <= 0)
    if len(back):
        row = int(back[0]) + 1
        rule = "later than that of the probe before, less the RTT"
        raise line_error(path, answered["line"][row], "clock", answered["stamp"][row], rule)
    if sent_s[-1] - sent_s[0] > LONGEST_S:
        raise line_error(path, answered["line"][-1], "clock", answered["stamp"][-1], "within a year of the first")


def _stamps(path: Path, answered: pl.DataFrame) -> pl.Series:
    """Read the clocks before the lines: epoch seconds, or local date and time."""
    text = answered["stamp"]
    values = next((found for found in _clocks(text) if found.is_not_null().any()), text.cast(pl.Float64, strict=False))
    bad = (values.is_null() | ~values.is_finite()).fill_null(True).arg_true()
    if len(bad):
        raise line_error(path, answered["line"][bad[0]], "clock", text[bad[0]], "epoch seconds or a date in each line")
    zones = text.str.extract(ZONE, 1).fill_null("")
    if len(other := (zones != zones[0]).arg_true()):
        rule = f"of one zone, '{zones[0]}' as in the lines before: what names of zones mean is not known"
        raise line_error(path, answered["line"][other[0]], "clock", text[other[0]], rule)
    return values


def _clocks(text: pl.Series) -> Iterator[pl.Series]:
    """Yield the clock by each form, in seconds; a time of day goes on after midnight, and a date may lack its year."""
    behind_seconds = text.str.extract(r"^\d{10}(\d+)$", 1).str.len_chars().fill_null(0)  # digits: of date +%s%3N
    yield text.cast(pl.Float64, strict=False) / 10.0**behind_seconds
    plain = (
        text.str.replace(r"^(\d{4})[-/.](\d\d)[-/.](\d\d)[T _-]", "$1-$2-$3 ")
        .str.replace(r"^(\d+)\.(\d+)\.(\d{4}),? ", "$3-$2-$1 ")
        .str.replace(",", ".", literal=True)
    )
    yield _seconds(plain, "%Y-%m-%d %H:%M:%S%.f")
    yield _seconds(plain.str.replace("Z$", "+0000"), "%Y-%m-%d %H:%M:%S%.f%z")
    of_day = _seconds("2000-01-01 " + plain, "%Y-%m-%d %H:%M:%S%.f")
    yield of_day + DAY_S * (of_day.diff() < -DAY_S / 2).fill_null(False).cum_sum()
    words = (
        text.str.replace(r"^[A-Z][a-z]{2},? ([A-Z]|\d{1,2} [A-Z])", "$1")
        .str.replace(r" (?:[A-Z]{3,5}\b|[+-]\d\d(?:\d\d)?( |$))", "$1")
        .str.replace(r" +", " ")
    )
    for hour in ("%H:%M:%S%.f", "%I:%M:%S%.f %p"):
        yield _seconds(words, f"%b %e {hour} %Y")
        yield _seconds(words + " 2000", f"%b %e {hour} %Y")
        yield _seconds(words, f"%e %b %Y {hour}")


def _seconds(text: pl.Series, form: str) -> pl.Series:
    return text.str.to_datetime(form, strict=False, time_unit="us").dt.epoch("us") / 1e6


def _by_number(
    path: Path, runs: list[Run], tables: list[pl.DataFrame], interval_s: float | None, notes: list[str]
) -> list[pl.DataFrame]:
    timed, start_s, each = list[pl.DataFrame](), 0.0, list[str]()
    for number, (run, probes) in enumerate(zip(runs, tables, strict=True), 1):
        pace_s = _pace(path, run, interval_s, each)
        t_s = start_s + np.arange(probes.height) * pace_s
        each.append(f"Run {number}: no clock: t_s is icmp_seq times {pace_s:.4f} s, from {start_s:.1f} s on.")
        start_s = float(t_s[-1]) + pace_s
        timed.append(_rows(t_s, probes))
    several = list(dict.fromkeys(each))
    notes += several[:MOST_NOTES] + [f"And so on: {len(several) - MOST_NOTES} more such lines."] * (
        len(several) > MOST_NOTES
    )
    if len(runs) > 1:
        notes.append("The pauses between runs are not recorded: each follows the one before at once.")
    return timed


def _pace(path: Path, run: Run, interval_s: float | None, notes: list[str]) -> float:
    if interval_s is not None:
        if not isinstance(interval_s, (int, float)) or not 0 < interval_s <= 3600:
            raise field_error(path, "interval_s", interval_s, "a number above 0 and at most 3600")
        return float(interval_s)
    if run.total_ms == 0 and (run.sent or 0) > 1:
        why = "ping's total time is 0 ms (--set interval_s=SECONDS, by the ipg of its last line), or use ping -D"
        raise UserError(f"{path}: interval_s: must be given, for {why}")
    if run.sent is None or run.sent < 2 or not run.total_ms:
        notes.append(
            f"The file does not state its interval: {COMMON_S:g} s, ping's default, is assumed; interval_s changes it."
        )
        return COMMON_S
    return run.total_ms / 1e3 / (run.sent - 1)


def _rows(t_s: NDArray[Any], probes: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame({"t_s": t_s, "rtt_ms": probes["rtt_ms"], "lost": probes["rtt_ms"].is_null()})
