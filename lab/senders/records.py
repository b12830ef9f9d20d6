# SPDX-License-Identifier: GPL-2.0-or-later
"""What a way of senders decodes, what it makes of it, and a comparison of a trial's certificate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lab.node.plan import Plan
from lab.node.record import NodeRecord
from lab.schema.cca import Cca
from lab.tables.pieces import Frame
from lab.tables.trial_json import Check, Download


@dataclass(frozen=True)
class RawTrial:
    """What a trial left behind, not yet decoded."""

    folder: Path
    plan: Plan
    node: NodeRecord
    senders: Sequence[Cca]  # the trial's, then that of each rival


class Decoded(Protocol):
    """The tables of a trial, and what the way itself knows of them."""

    @property
    def tables(self) -> Mapping[str, Frame]:
        """Return every table of TRIAL_TABLES."""

    def checks(self, tables: Mapping[str, Frame]) -> list[Check]:
        """Return the certificate's checks of packets as this way sends them, given the tables of the download."""

    def counted(self, download: Download) -> Download:
        """Return a download as this way counts it."""

    def keep(self) -> list[str]:
        """Prepare files to be stored beside tables and capture; return their names."""


def check(name: str, target: float, got: float | None, unit: str, tolerance: float, missing_ok: bool = False) -> Check:
    """Compare a measured value with its target; `missing_ok`: null passes."""
    ok = missing_ok if got is None else abs(got - target) <= tolerance
    return {"name": name, "asked": target, "got": got, "unit": unit, "tolerance": tolerance, "ok": ok}
