# SPDX-License-Identifier: GPL-2.0-or-later
"""What is compared of a trial: digests of the values of its tables, and its first packets."""

from dataclasses import dataclass

import polars as pl

from lab.tables.stored_trial import Trial
from lab.tables.trial_tables import TRIAL_TABLES
from lab.tables.values_digest import digest

BLOCK_PKTS = 1000  # one digest each: they find where a long trial differs
ROWS_PKTS = 2000  # kept of each trial


@dataclass(frozen=True)
class Values:
    """One trial: a digest per table, one per block of packets, and the first packets."""

    tables: dict[str, str]
    blocks: list[str]
    first: pl.DataFrame


def values_of(trial: Trial) -> Values:
    """Read what is compared of a stored trial."""
    packets = trial.packets
    blocks = [digest(packets[start : start + BLOCK_PKTS]) for start in range(0, packets.height, BLOCK_PKTS)]
    tables = {name: digest(trial.table(name)) for name in TRIAL_TABLES}
    return Values(tables, blocks, packets[:ROWS_PKTS])
