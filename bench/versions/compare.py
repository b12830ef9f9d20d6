# SPDX-License-Identifier: GPL-2.0-or-later
"""Forms side by side: counts of exits per link, and paired differences with their 95 % intervals."""

import polars as pl
from rich.table import Table

from lab.base.stats import mean_sd, paired, wilson_pct

CLASSES = ("early", "chokepoint", "late")
COSTS = ("throughput_mbps", "retransmits_pkts", "queue_ms")  # of whole trials


def by_link(rows: pl.DataFrame, base: str) -> pl.DataFrame:
    """One row per link and form; differences are the form's less those of `base` on the same links."""
    built = []
    for (link, form), own in rows.group_by("link", "form", maintain_order=True):
        other = rows.filter(link=link, form=base)
        built.append({"link": link, "form": form} | _counts(own) | _against(own, other))
    return pl.DataFrame(built, infer_schema_length=None)


def over_links(rows: pl.DataFrame, base: str) -> pl.DataFrame:
    """One row per form over all links: counts of exits, and the links with fewer or more at the chokepoint."""
    built = []
    for (form,), own in rows.group_by("form", maintain_order=True):
        other = rows.filter(form=base)
        built.append({"form": form} | _counts(own) | _moved(own, other))
    return pl.DataFrame(built, infer_schema_length=None)


def _counts(own: pl.DataFrame) -> dict[str, object]:
    judged = own.filter(pl.col("exit_class").is_not_null())
    counts = {name: judged.filter(exit_class=name).height for name in CLASSES}
    low, high = wilson_pct(counts["chokepoint"], judged.height)
    shown = None if low is None or high is None else f"{low:.0f}-{high:.0f}"
    after, _ = mean_sd(judged["after_rtts"])
    return {"trials": own.height} | counts | {"chokepoint_95_pct": shown, "after_rtts": after} | _lasting(own)


def _lasting(own: pl.DataFrame) -> dict[str, object]:
    """Count the exits by the stricter truth, where it was asked."""
    if "lasting_class" not in own.columns:
        return {}
    return {f"{name}_lasting": own.filter(lasting_class=name).height for name in CLASSES}


def _against(own: pl.DataFrame, other: pl.DataFrame) -> dict[str, object]:
    both = own.join(other, on="trial", suffix="_base")
    found: dict[str, object] = _moved(own, other)
    for name in ("exit_s", *(cost for cost in COSTS if cost in own.columns)):
        compared = paired(both[name].to_list(), both[f"{name}_base"].to_list())
        found[name], _ = mean_sd(own[name])
        found[f"{name}_differs"] = (
            None
            if compared.difference is None or compared.lo is None or compared.hi is None
            else f"{compared.difference:+.3g} ({compared.lo:+.3g} to {compared.hi:+.3g})"
        )
    return found


def _moved(own: pl.DataFrame, other: pl.DataFrame) -> dict[str, object]:
    """Pairs in which only one of the two leaves at the chokepoint."""
    both = own.join(other, on=("link", "trial"), suffix="_base")
    mine, theirs = (pl.col(name).fill_null("none") == "chokepoint" for name in ("exit_class", "exit_class_base"))
    return {"better": both.filter(mine & ~theirs).height, "worse": both.filter(~mine & theirs).height}


def shown(table: pl.DataFrame, title: str) -> Table:
    """Format a table for the terminal."""
    formatted = Table(*table.columns, title=title)
    for values in table.iter_rows():
        formatted.add_row(*("" if v is None else f"{v:.3g}" if isinstance(v, float) else str(v) for v in values))
    return formatted
