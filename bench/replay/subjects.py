# SPDX-License-Identifier: GPL-2.0-or-later
"""What there is to replay: columns of recordings, as a capacity or as delays."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lab.base.errors import UserError
from lab.links.recorded import Recorded, Series, load_opportunities, load_series
from lab.schema.dataset import Description
from lab.traces import recording
from lab.traces.datasets import Dataset, dataset, datasets
from lab.traces.importers import imported_dataset

RATES = ("rate_down_mbps", "rate_up_mbps")
DELAYS = ("rtt_ms", "delay_ms")
ASKED_BY = Path("bench-replay")
Kind = Literal["rate", "opportunities", "delay"]


@dataclass(frozen=True)
class Subject:
    """One column of a recording, and how it is replayed."""

    name: str
    column: str
    kind: Kind

    def load(self) -> Recorded:
        """Open the recording."""
        column = None if self.column == "opportunities" else self.column
        series = Series(dataset=self.name, column=column)
        if self.kind == "opportunities":
            return load_opportunities(series, ASKED_BY, self.column)
        return load_series(series, ("rate_mbps",), ASKED_BY, self.column)


def subjects(names: list[str]) -> list[Subject]:
    """Find what can be replayed of recordings, of all that were fetched without names."""
    requested = [dataset(name) for name in names] or [
        one for one in datasets().values() if one.fetched and not _again(one)
    ]
    found = [(one, list(_columns(one))) for one in requested]
    for one, columns in found if names else ():
        if not columns:
            raise UserError(f"{one.name}: must hold a capacity or round trips on a clock, to be replayed")
    if not any(columns for _, columns in found):
        raise UserError("bench-replay: must have recordings: run 'lab traces fetch --all'")
    return [subject for _, columns in found for subject in columns]


def _again(one: Dataset) -> bool:
    """Return whether a recording is a part of one that is replayed as a whole."""
    return one.own.whole and one.part != Description()


def _columns(one: Dataset) -> Iterator[Subject]:
    """List the columns of a recording that can be replayed.

    A rate is a capacity only where the link was saturated; samples without a clock are no series.
    """
    scan = recording.scan(imported_dataset(one.name))
    columns = scan.frame.collect_schema().names()
    if scan.kind == "samples":
        return
    if "opportunities" in columns:
        yield Subject(one.name, "opportunities", "rate")
        yield Subject(one.name, "opportunities", "opportunities")
    for column in columns:
        if column in RATES and scan.meaning == "capacity":
            yield Subject(one.name, column, "rate")
        elif column in DELAYS:
            yield Subject(one.name, column, "delay")
