# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of evaluation/claims.parquet as the page words them."""

from typing import Any

import polars as pl

from lab.report.table import NONE

MARKS = {"agrees": "agrees", "differs": "differs"}


def shown(table: pl.DataFrame | None) -> list[dict[str, Any]] | None:
    """A row a claim; null where they have not been judged."""
    return None if table is None else [_row(row) for row in table.iter_rows(named=True)]


def _row(row: dict[str, Any]) -> dict[str, Any]:
    interval = "" if row["lo"] is None or row["hi"] is None else f" [{row['lo']:.4g} to {row['hi']:.4g}]"
    spread = "" if row["published_sd"] is None else f" ({row['published_sd']:.4g})"
    ours = NONE if row["ours"] is None else f"{row['ours']:.4g}{interval}"
    return {
        "claim": row["claim"],
        "source": f"{row['document']}, {row['place']}",
        "scenario": row["scenario"],
        "published": f"{row['published']:.4g}{spread} {row['unit']}",
        "ours": f"{ours} {row['unit']}" if row["ours"] is not None else ours,
        "tolerance": f"{row['tolerance']:.4g}",
        "verdict": row["verdict"],
        "mark": MARKS.get(row["verdict"], "open"),
        "why": row["why"] or "",
    }
