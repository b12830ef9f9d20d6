# SPDX-License-Identifier: GPL-2.0-or-later
"""Logs that a Linux sender wrote at each ACK it took in: a CSV with now_us, whose other columns come in any order.

Three forms are known, distinguished by their header:

    now_us, bytes_acked, mss, rtt_us, tp_delivered, lost_pkt, total_retrans_pkt, snd_nxt [, snd_una, snd_cwnd]
    now_us, bytes_acked, mss, rtt_us, tp_delivered, lost, retrans
    now_us, each_delv_MB, total_delv_B, total_sent_B, rtt_us, lost_pkt, total_retrans_pkt [, cwnd_pkt]

Row 0 of the recording is the time at which the first data segment was sent: the first ACK's, less its RTT. A log that
does not count what was acknowledged gives its round trips and what else it has, on the clock of its first ACK.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from lab.base.errors import UserError, field_error
from lab.traces.columns import SLOWEST_MS
from lab.traces.importer import Head, Importer
from lab.traces.recording import Recording
from lab_formats.reading.counters import WRAP, Counts, clock_us, not_negative, sequence, total, whole
from lab_formats.reading.table import Table, read_table
from lab_formats.reading.text import lacks_end

CLOCK = "now_us"
TOTALS = ("bytes_acked", "total_delv_B")  # bytes acknowledged since the beginning
STEP = "each_delv_MB"  # bytes acknowledged by this ACK, in spite of its name
RTTS = {"rtt_us": 1e-3, "rtt_ms": 1.0, "rtt_s": 1e3}
RETRANSMITS = ("total_retrans_pkt", "retrans")  # segments sent again since the beginning
LOST = ("lost_pkt", "lost")  # segments that the sender takes for lost
WINDOWS = ("snd_cwnd", "cwnd_pkt")
SENT = "total_sent_B"
ACKED = frozenset({*TOTALS, STEP})
NAMES = frozenset({CLOCK, *ACKED, *RTTS, *RETRANSMITS, *LOST, *WINDOWS, SENT, "snd_nxt", "snd_una", "tp_delivered"})
FLOWS = ("saddr", "daddr", "sport", "dport", "port", "flow", "flow_id", "sk", "sock", "cookie")  # one each
LEAST_NAMES = 2  # of a header: it is a log, and what is missing can be named
NO_SAMPLE = (-1, WRAP - 1)  # the kernel's RTT of an ACK that gave none, as signed and as unsigned
LEAST_MSS, MOST_MSS = 88, 65_495  # TCP_MIN_SND_MSS of Linux, and what an IPv4 packet holds
INITIAL_WINDOW_PKTS = 10  # RFC 6928, and TCP_INIT_CWND of Linux
LEAST_ACKS = 100  # from which the units can be seen
MOST_APART = 300  # times: units are 1000 apart, and a sender that waits for its application is not
FIRST_STEPS = 50  # in which the greatest common divisor of the steps is the MSS


def fits(head: Head) -> bool:
    """Recognise two of the columns' names; t_s is the clock of a recording."""
    return len(head.header & NAMES) >= LEAST_NAMES and "t_s" not in head.header


def read(path: Path, *, mss_bytes: int | None = None, initial_window_pkts: int = INITIAL_WINDOW_PKTS) -> Recording:
    """Read a log; `mss_bytes` where it names none, `initial_window_pkts` where it does not hold what was in flight."""
    if initial_window_pkts < 1 or (mss_bytes is not None and not LEAST_MSS <= mss_bytes <= MOST_MSS):
        raise field_error(path, "mss_bytes", mss_bytes, f"{LEAST_MSS} to {MOST_MSS}, and initial_window_pkts 1 or more")
    whole_table, cut = _without_cut_end(read_table(path))
    _refuse_other_flows(whole_table)
    if not set(whole_table.frame.columns) & ACKED:
        found = _without_acked(whole_table, path.name, mss_bytes)
        return replace(found, notes=(*cut, *found.notes))
    table, early = _from_first_data(whole_table)
    t_us, acked = clock_us(table, CLOCK), _acked(table)
    mss, mss_notes = _mss(table, acked, mss_bytes)
    flight, flight_note = _inflight(table, acked, mss, initial_window_pkts)
    columns = [
        pl.Series("acked_bytes", acked),
        _rtt(table),
        *([flight.alias("inflight_bytes")] if flight is not None else []),
        *_delivered(table, acked, mss),
        *_counted(table),
        pl.Series("mss_bytes", np.full(len(acked), mss), pl.UInt32),
    ]
    frame, notes = _on_clock(pl.DataFrame([pl.Series("t_s", t_us / 1e6), *columns]), initial_window_pkts * mss)
    _refuse_other_units(table, frame)
    all_notes = (*cut, *early, *mss_notes, flight_note, *notes, *_limited(table))
    return Recording(frame, "series", None, "ack-log", path.name, all_notes)


def _without_cut_end(table: Table) -> tuple[Table, list[str]]:
    """Leave out a last line without an end, whose last value may be cut: what logs each ACK ends each line."""
    if table.frame.height < 2 or not lacks_end(table.file):
        return table, []
    kept = replace(table, frame=table.frame.head(-1))
    return kept, ["The last line has no end, so that its last value may be cut: left out."]


def _refuse_other_flows(table: Table) -> None:
    """Refuse a log of several connections, where a column tells them apart."""
    for name in FLOWS:
        if name in table.frame.columns and len(others := (table.text(name) != table.text(name)[0]).arg_true()):
            rule = f"{table.text(name)[0]}, as in the first line: one connection's ACKs"
            raise table.error(int(others[0]), name, table.text(name)[int(others[0])], rule)


def _refuse_other_units(table: Table, frame: pl.DataFrame) -> None:
    """Refuse a clock or an RTT in another unit than its name's: rate times RTT is what is in flight (Little's law)."""
    known = frame.drop_nulls("rtt_ms")
    if "inflight_bytes" not in known.columns or known.height < LEAST_ACKS:
        return
    flight, rtt_ms = (float(known[name].median() or 0) for name in ("inflight_bytes", "rtt_ms"))  # type: ignore[arg-type]
    span_s = float(known["t_s"][-1] - known["t_s"][0])
    if not flight or not rtt_ms:
        return
    held = float(known["acked_bytes"][-1]) / span_s * rtt_ms / 1e3
    if not 1 / MOST_APART < held / flight < MOST_APART:
        shown = f"{flight:.0f} bytes, where rate times RTT is {held:.0f}"
        rule = f"no more than {MOST_APART} times apart: {CLOCK} and {_first(table, tuple(RTTS))} in their names' units"
        raise field_error(table.file, "in flight", shown, rule)


def _without_acked(table: Table, name: str, mss_bytes: int | None) -> Recording:
    """Take the round trips, and what else there is without a count of what was acknowledged."""
    if CLOCK not in table.frame.columns:
        raise _lacking(table, (CLOCK,))
    have = table.frame.columns
    missing = [f"Bytes acknowledged: not in the log (no {', '.join((*TOTALS, STEP))}), so no rate follows from it."]
    columns = [pl.Series("t_s", clock_us(table, CLOCK) / 1e6), _rtt(table)]
    if "snd_nxt" in have and "snd_una" in have:
        columns.append(_sent_less_una(table).alias("inflight_bytes"))
        missing.append("In flight: snd_nxt - snd_una.")
    else:
        missing.append("In flight: not known, for the log lacks snd_nxt or snd_una.")
    if "mss" in have or mss_bytes is not None:
        mss, notes = _mss(table, np.zeros(0, np.int64), mss_bytes)
        columns.append(pl.Series("mss_bytes", np.full(table.frame.height, mss), pl.UInt32))
        missing += notes
    frame, notes = _last_of_each_time(pl.DataFrame([*columns, *_counted(table)]))
    missing += [*notes, "Time counts from the log's first ACK.", *_limited(table)]
    return Recording(frame, "series", None, "ack-log", name, tuple(missing))


def _from_first_data(table: Table) -> tuple[Table, list[str]]:
    """Leave out what came before the first ACK of data, such as the handshake's."""
    if CLOCK not in table.frame.columns:
        raise _lacking(table, (CLOCK,))
    acked = _acked(table)
    if not acked[-1]:
        raise table.error(len(acked) - 1, "acked", 0, "above 0 in the last line: no data was acknowledged")
    before = int(np.flatnonzero(acked)[0])
    if not before:
        return table, []
    kept = table.only(pl.Series(np.arange(len(acked)) >= before))
    return kept, [f"{before} ACKs came before the first of data: left out."]


def _acked(table: Table) -> Counts:
    """Bytes acknowledged since the beginning of the download."""
    name = _first(table, TOTALS)
    if name is not None:
        return total(table, name)
    if STEP not in table.frame.columns:
        raise _lacking(table, (*TOTALS, STEP))
    return np.cumsum(whole(table, STEP, 0, 2**40))


def _rtt(table: Table) -> pl.Series:
    name = _first(table, tuple(RTTS))
    if name is None:
        raise _lacking(table, tuple(RTTS))
    values = table.numbers(name, *NO_SAMPLE).to_numpy()
    known, rtt_ms = ~np.isin(values, (0, *NO_SAMPLE)), values * RTTS[name]
    if len(odd := np.flatnonzero(known & ((rtt_ms < 0) | (rtt_ms > SLOWEST_MS)))):
        row = int(odd[0])
        raise table.error(
            table.row_of(row), name, table.text(name)[row], f"0 to {SLOWEST_MS / RTTS[name]:g}, or -1 for no sample"
        )
    return pl.Series("rtt_ms", np.where(known, rtt_ms, np.nan)).fill_nan(None)


def _mss(table: Table, acked: Counts, given: int | None) -> tuple[int, list[str]]:
    if "mss" in table.frame.columns:
        found = whole(table, "mss", LEAST_MSS, MOST_MSS)
        sizes, rows = np.unique(found, return_counts=True)
        note = f"The MSS changes ({len(sizes)} sizes): the most frequent is used."
        return int(sizes[rows.argmax()]), [note] * (len(sizes) > 1)
    if given is not None:
        return given, ["The MSS was given with the import."]
    steps = np.diff(acked, prepend=0)
    mss = int(np.gcd.reduce(steps[steps > 0][:FIRST_STEPS])) if (steps > 0).any() else 0
    if not LEAST_MSS <= mss <= MOST_MSS:
        raise field_error(table.file, "mss_bytes", mss, "given with --set mss_bytes=N: the log names none")
    return mss, [f"The log names no MSS: {mss} bytes divide the first {FIRST_STEPS} steps of what was acknowledged."]


def _inflight(table: Table, acked: Counts, mss: int, window_pkts: int) -> tuple[pl.Series | None, str]:
    """Bytes sent and not acknowledged: snd_nxt - snd_una, or counted from the initial window."""
    have = table.frame.columns
    if "snd_nxt" in have and "snd_una" in have:
        return _sent_less_una(table), "In flight: snd_nxt - snd_una."
    if "snd_nxt" in have:
        if acked[0] > window_pkts * mss:
            return None, "In flight: not known, for the log begins after the initial window."
        flight = window_pkts * mss - acked + sequence(table, "snd_nxt")
        note = f"In flight: snd_nxt less what was acknowledged, from an initial window of {window_pkts} segments."
        return not_negative(table, "snd_nxt", flight, "no less than what was acknowledged"), note
    if SENT in have:
        flight = total(table, SENT) - acked
        note = f"In flight: {SENT} less what was acknowledged; what was sent again may count twice."
        return not_negative(table, SENT, flight, "no less than what was acknowledged"), note
    return None, "In flight: not in the log."


def _sent_less_una(table: Table) -> pl.Series:
    apart = int(whole(table, "snd_nxt")[0] - whole(table, "snd_una")[0]) % WRAP
    flight = apart + sequence(table, "snd_nxt") - sequence(table, "snd_una")
    return not_negative(table, "snd_nxt", flight, "no less than snd_una")


def _delivered(table: Table, acked: Counts, mss: int) -> list[pl.Series]:
    """Bytes that arrived, in order or not: the kernel's count of segments, which includes the SYN."""
    if "tp_delivered" not in table.frame.columns:
        return []
    steps = np.diff(total(table, "tp_delivered"), prepend=0)
    steps[0] = 0
    sizes = whole(table, "mss") if "mss" in table.frame.columns else mss
    return [pl.Series("delivered_bytes", np.cumsum(steps * sizes) + acked[0])]


def _counted(table: Table) -> list[pl.Series]:
    found = []
    if (name := _first(table, RETRANSMITS)) is not None:
        found.append(pl.Series("retransmits_pkts", total(table, name)))
    if (name := _first(table, LOST)) is not None:
        found.append(pl.Series("lost_pkts", whole(table, name)))
    if (name := _first(table, WINDOWS)) is not None:
        found.append(pl.Series("cwnd_pkts", whole(table, name, 0, WRAP)))
    return found


def _on_clock(frame: pl.DataFrame, initial_bytes: int) -> tuple[pl.DataFrame, list[str]]:
    """Keep the last ACK of each time, and begin where the first data segment was sent."""
    kept, notes = _last_of_each_time(frame)
    first_ms = kept["rtt_ms"][0]
    if first_ms is None or kept["acked_bytes"][0] > initial_bytes:
        return kept, [*notes, "The log does not begin with the download: time counts from its first ACK."]
    before = {"t_s": 0.0, "acked_bytes": 0, "mss_bytes": kept["mss_bytes"][0]}
    start = pl.DataFrame([before], schema_overrides={name: kept.schema[name] for name in before})
    whole_one = pl.concat([start, kept.with_columns(pl.col("t_s") + first_ms / 1e3)], how="diagonal")
    note = f"Time counts from the first data segment, {first_ms:.1f} ms before the first ACK."
    return whole_one.select(kept.columns), [*notes, note]


def _last_of_each_time(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Keep the last ACK of each time, and count retransmissions from one to the next."""
    kept, notes = frame.unique("t_s", keep="last", maintain_order=True), []
    if same := frame.height - kept.height:
        notes.append(f"{same} ACKs came in the microsecond of the next: the last of each counts.")
    if "retransmits_pkts" in kept.columns:
        steps = pl.col("retransmits_pkts").diff().fill_null(pl.col("retransmits_pkts")).cast(pl.UInt32)
        kept = kept.with_columns(steps)
    return kept, notes


def _limited(table: Table) -> list[str]:
    if "app_limited" not in table.frame.columns:
        return []
    rows = int((whole(table, "app_limited") > 0).sum())
    return [f"{rows} of {table.frame.height} ACKs found the sender limited by its application."]


def _first(table: Table, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in table.frame.columns), None)


def _lacking(table: Table, names: tuple[str, ...]) -> UserError:
    rule = f"such that one of them is {' or '.join(names)}"
    return table.error(-1, "columns", ",".join(table.frame.columns), rule)


IMPORTERS = (
    Importer(
        "ack-log",
        "CSV that a Linux sender wrote at each ACK, with now_us",
        "bytes acknowledged, delivered, in flight; RTT; retransmissions",
        fits,
        read,
    ),
)
