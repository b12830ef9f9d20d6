# SPDX-License-Identifier: GPL-2.0-or-later
"""Two downloads over one link: a table from evaluation/flows.parquet."""

import polars as pl

from lab.base.format import number
from lab.base.stats import mean_sd
from lab.report.table import Group, Row, Table

COLUMNS = {"throughput_mbps": 1, "rtt_ms": 0, "retransmits_pkts": 0, "jain": 2}
HEADER = ("Flow", "Trials", "Throughput (Mb/s)", "RTT (ms)", "Retransmits (pkts)", "Fairness (Jain)")


def competing_table(flows: pl.DataFrame) -> Table:
    """Return one group per pairing, with one row per flow: means with standard deviations over the trials."""
    groups = []
    for (pairing,), of_pairing in flows.group_by(["pairing"], maintain_order=True):
        rows = []
        for (flow, cca), of_flow in of_pairing.group_by(["flow", "cca"], maintain_order=True):
            cells = [_cell(of_flow[column], digits) for column, digits in COLUMNS.items()]
            rows.append(Row((f"{flow}: {cca}", str(of_flow["trial"].n_unique()), *cells)))
        groups.append(Group(str(pairing), tuple(rows)))
    caption = "Two simultaneous downloads over one satellite link, as mean (sd) over the trials."
    return Table("competing-flows", caption, HEADER, tuple(groups), (), "Pairing")


def _cell(values: pl.Series, digits: int) -> str:
    mean, sd = mean_sd(values)
    return number(mean, digits) + ("" if sd is None else f" ({number(sd, digits)})")
