# SPDX-License-Identifier: GPL-2.0-or-later
"""One stored trial: its metadata, and its tables, read at first use."""

import json
import os
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from lab.base.contract import check
from lab.base.errors import UserError
from lab.tables.link_capacity import Link
from lab.tables.trial_json import TrialJson

FORMAT = 2
MAGIC = b"PAR1"  # a Parquet file's last bytes
TABLES = ("packets", "acks", "retransmits", "ca_states", "bins", "exits", "qdisc", "link")


class Trial:
    """A trial's folder, read lazily; UserError where a file is missing or cut short."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def meta(self) -> TrialJson:
        """Return what trial.json holds."""
        content: TrialJson = read_json(self.path / "trial.json", TrialJson)
        return content

    @property
    def cca(self) -> str:
        """Return the name of its sender."""
        return str(self.meta["cca"])

    @property
    def number(self) -> int:
        """Return its number, from 1 on."""
        return int(self.meta["trial"])

    @property
    def valid(self) -> bool:
        """Return whether its certificate is valid."""
        return bool(self.meta["certificate"]["valid"])

    @cached_property
    def packets(self) -> pl.DataFrame:
        """Return the frames of the client's capture."""
        return self._table("packets")

    @cached_property
    def acks(self) -> pl.DataFrame:
        """Return the ACKs that the sender's kernel traced."""
        return self._table("acks")

    @cached_property
    def retransmits(self) -> pl.DataFrame:
        """Return the retransmitted buffers."""
        return self._table("retransmits")

    @cached_property
    def ca_states(self) -> pl.DataFrame:
        """Return the changes of the congestion state."""
        return self._table("ca_states")

    @cached_property
    def bins(self) -> pl.DataFrame:
        """Return SEARCH's bins; none of other senders."""
        return self._table("bins")

    @cached_property
    def exits(self) -> pl.DataFrame:
        """Return the end of each flow's first slow start."""
        return self._table("exits")

    @cached_property
    def qdisc(self) -> pl.DataFrame:
        """Return the samples of the bottleneck's qdisc."""
        return self._table("qdisc")

    @cached_property
    def link(self) -> Link:
        """Return the link as it was."""
        return Link(self._table("link"))

    @property
    def is_whole(self) -> bool:
        """Return whether trial.json can be read, and every table ends as it should."""
        try:
            return bool(self.meta) and all(_ends(self.path / f"{name}.parquet") for name in TABLES)
        except UserError:
            return False

    def _table(self, name: str) -> pl.DataFrame:
        file = self.path / f"{name}.parquet"
        try:
            return pl.read_parquet(file)
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
            raise UserError(f"{file}: must be a whole Parquet table: --resume runs the trial again") from None


def _ends(table: Path) -> bool:
    try:
        with table.open("rb") as stream:
            stream.seek(-len(MAGIC), os.SEEK_END)
            return stream.read() == MAGIC
    except OSError:
        return False


def read_json(file: Path, contract: Any) -> Any:
    """Read a stored JSON file of this format version; UserError where it breaks its contract."""
    try:
        content = json.loads(file.read_text())
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise UserError(f"{file}: must be whole JSON") from None
    if not isinstance(content, dict):
        raise UserError(f"{file}: must be a JSON object")
    if content.get("format") != FORMAT:
        raise UserError(f"{file}: format={content.get('format')}: must be {FORMAT}")
    check(content, contract, file)
    return content
