# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded and emulated downloads as tables of text."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from lab.base.format import trials_text
from lab_papers.evaluation.recorded.bands import HIGH_PCT, LOW_PCT, QUANTITIES, inside, left_out, rms_s
from lab_papers.evaluation.recorded.comparison import Comparison
from lab_papers.evaluation.recorded.download import Download
from lab_papers.evaluation.recorded.gateway_drop import (
    LEAST_SHARE,
    MOST_SHARE,
    STRETCH_PKTS,
    Gateway,
    first_loss,
    gateway_drop,
)
from lab_papers.evaluation.recorded.rate import (
    BIN_S,
    FIRST_S,
    FROM_S,
    LAGS_S,
    MARKS_PKTS,
    QUEUE_RTTS,
    SLOW_MBPS,
    Rate,
    Spells,
    rate,
    spells,
)

Row = tuple[str, ...]
EMULATED = "emulated"  # how the rows of trials begin
DRAWS = 2000  # of as many trials as there are recorded downloads


@dataclass(frozen=True)
class Sheet:
    """A table with its title and its note."""

    title: str
    header: Row
    rows: list[Row]
    note: str


def sheets(both: Comparison) -> list[Sheet]:
    """All tables, in the order in which they are shown."""
    return [_inside(both), _marks(both), _drops(both), _rates(both), _spells(both)]


def _inside(both: Comparison) -> Sheet:
    header = ("", *(f"{name}, {what}" for name in QUANTITIES.values() for what in ("slow start", "whole")), "compared")
    rows, whole = [], []
    for each in both.recorded:
        shares = inside(each, both.bands)
        flat = [share for pair in shares.values() for share in pair]
        whole.append(flat)
        end_s = min(both.bands["acked_pkts"].end_s, float(each.t_s[-1]))
        rows.append((each.name, *map(_pct, flat), f"{min(each.slow_start_end_s, end_s):.1f} s, {end_s:.1f} s"))
    rows.append(("mean", *_means(whole), ""))
    alike = [[share for pair in shares.values() for share in pair] for shares in left_out(both.trials)]
    if alike:
        rows.append((f"{EMULATED}, left out, mean", *_means(alike), ""))
        rows.append((f"{EMULATED}, left out, {len(whole)} at a time", *_means_of_some(alike, len(whole)), ""))
    note = (
        f"Share of time inside the band of {trials_text(len(both.trials))} of {both.sender} ({both.run}), their "
        f"{LOW_PCT}th to {HIGH_PCT}th percentile, from the first ACK on: until the recorded sender left slow start, "
        "and as long as both last. Left out: each trial against the band of the others, which is what a download "
        f"like the trials has; of a band of endless trials it would be {HIGH_PCT - LOW_PCT} %. At a time: the "
        f"{LOW_PCT}th to {HIGH_PCT}th percentile of the mean of as many trials as there are recorded downloads."
    )
    return Sheet("Inside the band", header, rows, note)


def _means(shares: Sequence[Sequence[float | None]]) -> Row:
    columns = [[share for share in column if share is not None] for column in zip(*shares, strict=True)]
    return tuple(_pct(float(np.mean(known)) if known else None) for known in columns)


def _means_of_some(shares: Sequence[Sequence[float | None]], count: int) -> Row:
    """Return how far the mean of `count` rows, drawn again and again, spreads in each column."""
    table = np.array(shares, dtype=float)
    drawn = table[np.random.default_rng(0).integers(len(table), size=(DRAWS, count))]
    low, high = np.percentile(np.nanmean(drawn, axis=1), (LOW_PCT, HIGH_PCT), axis=0)
    return tuple(f"{100 * least:.0f} to {_pct(most)}" for least, most in zip(low, high, strict=True))


def _marks(both: Comparison) -> Sheet:
    columns = [*(f"acked_{count}_s" for count in MARKS_PKTS), "median_rtt_ms", "min_rtt_ms", "cycle_hz"]
    header = ("", *(f"{count} acked (s)" for count in MARKS_PKTS), "RTT (ms)", "least RTT (ms)", "cycle (Hz)")
    forms = ["{:.2f}"] * len(MARKS_PKTS) + ["{:.0f}", "{:.1f}", "{:.2f}"]
    theirs, ours = both.recorded_marks, both.emulated_marks

    def quantile(table: pl.DataFrame, share: float) -> Row:
        return _format_all([_quantile(table[name], share) for name in columns], forms)

    rows = [(str(row["name"]), *_format_all([row[name] for name in columns], forms)) for row in theirs.to_dicts()]
    rows.append(("recorded, median", *quantile(theirs, 0.5)))
    rows.append((f"{EMULATED}, median", *quantile(ours, 0.5)))
    rows += [(f"{EMULATED}, p{share}", *quantile(ours, share / 100)) for share in (LOW_PCT, HIGH_PCT)]
    apart = rms_s(ours, theirs)
    note = (
        f"Seconds after the first data segment at which so many segments were acknowledged; RTT: median over the first "
        f"{FIRST_S:g} s, and its dominant cycle there. The medians are {_format(apart, '{:.2f}')} s apart (rms)."
    )
    return Sheet("Start of the download", header, rows, note)


DROP_FORMS = ("{:.2f}", "{:.2f}", "{:.1f}", "{:.2f}", "{:.2f}", "{:.2f}", "{:.1f}", "{:.0f}")
DROP_NOTE = (
    "Queue: IP bytes that had been sent, were not lost and had not left the smallest round trip later, as the first "
    "lost segment was sent; what waits on the return link is in it. The gateway's drop: from the first loss from which "
    f"two stretches of {STRETCH_PKTS} segments each lost {100 * LEAST_SHARE:.0f} to {100 * MOST_SHARE:.0f} %; of a "
    "trial, what its gateway held and dropped in truth."
)


def _drops(both: Comparison) -> Sheet:
    header = ("", "first loss noticed (s)", "sent (s)", "acked (MB)", "queue (MB)", "gateway's: sent (s)", "queue (MB)")
    rows: list[Row] = []
    for each in both.recorded:
        rows.append((each.name, *_format_all(_drop_cells(each, gateway_drop(each)), DROP_FORMS)))
    cells = [_drop_cells(each, truth) for each, truth in zip(both.trials, both.truths, strict=True)]
    for name, share in (("median", 0.5), (f"p{LOW_PCT}", LOW_PCT / 100), (f"p{HIGH_PCT}", HIGH_PCT / 100)):
        summed = [_quantile(pl.Series(column, dtype=pl.Float64), share) for column in zip(*cells, strict=True)]
        rows.append((f"{EMULATED}, {name}", *_format_all(summed, DROP_FORMS)))
    whole = sum(each.loss_s is None for each in both.trials)
    note = f"{DROP_NOTE} {whole} of {trials_text(len(both.trials))} noticed no loss before they ended."
    return Sheet("First loss", (*header, "dropped (%)", "of segments"), rows, note)


def _drop_cells(each: Download, gateway: Gateway | None) -> list[float | None]:
    """Return the first loss, and the gateway's drop; null where there is none."""
    loss = first_loss(each)
    begin = [each.loss_s, *((loss.sent_s, loss.acked_bytes / 1e6, loss.queue_bytes / 1e6) if loss else (None,) * 3)]
    if gateway is None:
        return [*begin, *(None,) * 4]
    return [*begin, gateway.sent_s, gateway.queue_bytes / 1e6, gateway.share_pct, float(gateway.segments)]


def _rates(both: Comparison) -> Sheet:
    header = ("", "mean (Mb/s)", "ln sd", *(f"correlation, {lag_s:g} s" for lag_s in LAGS_S), "bins", "idle")
    rows = [_rate_row(each.name, rate(each)) for each in both.recorded]
    ours = [found for each in both.trials if (found := rate(each)) is not None]
    if ours:
        rows.append((f"{EMULATED}, median", *_rate_cells(ours)))
    theirs = [found for each in both.recorded if (found := rate(each)) is not None]
    note = (
        f"IP bits that arrived, in bins of {BIN_S:g} s from {FROM_S:g} s until the sender left slow start or lost: so "
        "long a queue stands, and the rate is the link's and not the window's. ln sd and correlation of those in which "
        f"any did. Sd of the means' ln: recorded {_ln_sd(theirs)}, emulated {_ln_sd(ours)}."
    )
    return Sheet("Rate", header, rows, note)


def _rate_row(name: str, found: Rate | None) -> Row:
    return (name, *(_rate_cells([found]) if found else [""] * (4 + len(LAGS_S))))


def _rate_cells(found: Sequence[Rate]) -> list[str]:
    def middle(values: list[float], form: str) -> str:
        return _format(float(np.nanmedian(values)) if not np.isnan(values).all() else None, form)

    lags = [middle([one.correlation[place] for one in found], "{:.2f}") for place in range(len(LAGS_S))]
    return [
        middle([one.mean_mbps for one in found], "{:.2f}"),
        middle([one.ln_sd for one in found], "{:.2f}"),
        *lags,
        middle([one.bins for one in found], "{:.0f}"),
        middle([one.idle for one in found], "{:.0f}"),
    ]


SPELL_FORMS = ("{:.1f}", "{:.0%}", "{:.1f}", "{:.1f}", "{:.1f}", *("{:.2f}", "{:.2f}", "{:.2f}") * 2)


def _spells(both: Comparison) -> Sheet:
    header = (
        "",
        "queue (s)",
        "in spells",
        "first (s)",
        "last (s)",
        "apart (s)",
        "in one (Mb/s)",
        "ln sd",
        "correlation",
    )
    end_s = both.bands["acked_pkts"].end_s
    found = [(each.name, spells(each, end_s)) for each in both.recorded]
    rows: list[Row] = [(name, *_format_all(_spell_cells(one), SPELL_FORMS)) for name, one in found]
    ours = [_spell_cells(one) for each in both.trials if (one := spells(each)) is not None]
    for name, share in (("median", 0.5), (f"p{LOW_PCT}", LOW_PCT / 100), (f"p{HIGH_PCT}", HIGH_PCT / 100)):
        summed = [_quantile(pl.Series(column, dtype=pl.Float64), share) for column in zip(*ours, strict=True)]
        rows.append((f"{EMULATED}, {name}", *_format_all(summed or _spell_cells(None), SPELL_FORMS)))
    note = (
        f"Spells: bins of {BIN_S:g} s below {SLOW_MBPS:g} Mb/s, up to {end_s:.0f} s, among those in which a queue "
        f"stands (median round trip {QUEUE_RTTS} times the least, or no ACK). How long one lasts and how far they are "
        "apart: time in the state by the number of its ends. Rates: median, sd of the logarithm and its correlation "
        "from a bin to the next; in spells, then between them; of bins whose neighbours are in the same state."
    )
    return Sheet("Slow spells", (*header, "between (Mb/s)", "ln sd", "correlation"), rows, note)


def _spell_cells(found: Spells | None) -> list[float | None]:
    if found is None:
        return [None] * len(SPELL_FORMS)
    rates = [value for one in (found.slow, found.usual) for value in (one.median_mbps, one.ln_sd, one.correlation)]
    cells = [found.queue_s, found.share, found.first_s, found.lasts_s, found.apart_s, *rates]
    return [None if np.isnan(cell) else cell for cell in cells]


def _quantile(values: pl.Series, share: float) -> float | None:
    return values.cast(pl.Float64).quantile(share, "linear")


def _format(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)


def _format_all(values: Sequence[float | None], forms: Sequence[str]) -> Row:
    return tuple(_format(value, form) for value, form in zip(values, forms, strict=True))


def _ln_sd(found: Sequence[Rate]) -> str:
    logs = np.log([one.mean_mbps for one in found if one.mean_mbps > 0])
    return f"{logs.std(ddof=1):.2f}" if logs.size > 1 else "not known"


def _pct(share: float | None) -> str:
    return "" if share is None or np.isnan(share) else f"{100 * share:.0f} %"
