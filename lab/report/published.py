# SPDX-License-Identifier: GPL-2.0-or-later
"""What a source publishes for a sender of a scenario, and which version of SEARCH the source ran."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lab.judge.stored import Stored
from lab.schema.cca import load_ccas
from lab.tables.records import is_measured

# Each source by the first words of its name: the thesis and the WiFi paper ran the kernel of the NetDev talk, 5.10.79,
# whose SEARCH is 2.0; the poster is of 2023 and has the algorithm of 1.0.
RAN = {"thesis": "search2", "NetDev 0x18": "search2", "WiFi paper": "search2", "poster": "search1"}


@dataclass(frozen=True)
class Published:
    """A published mean or share, and its source; `ran` is the sender's label where the source ran another version."""

    value: float
    source: str
    ran: str | None


def published(stored: Stored, cca: str, metric: str) -> Published | None:
    """Return the first value that a source gives of a sender's own downloads; null where none does."""
    for source, values in _rows(stored, cca):
        value = values.get(metric)
        if value is not None:
            mean = value[0] if isinstance(value, list | tuple) else value
            return Published(float(mean), source, ran(source, cca))
    return None


def ran(source: str, cca: str) -> str | None:
    """Return the label of the SEARCH that a source ran, where it is not the version that it stands next to."""
    known = load_ccas()
    if cca not in known or known[cca].slow_start_exit != "search":
        return None
    version = next((version for name, version in RAN.items() if source.startswith(name)), cca)
    return None if version == cca else short_label(known[version].label)


def short_label(label: str) -> str:
    """Return a sender's label without what it explains in brackets."""
    return label.split(" (", 1)[0]


def _rows(stored: Stored, cca: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    scenario = stored.run.scenario
    for claim in scenario.get("claims", []):
        if claim["cca"] == cca and not claim.get("replayed") and is_measured(claim):
            yield claim["source"], claim["values"]
    for row in scenario.get("published", []):
        if row["cca"] == cca:
            yield str(row["source"]), row
