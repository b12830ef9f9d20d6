# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user should know before a profile's result is believed."""

from collections.abc import Iterator

from lab.links.draw import COLUMNS
from lab.links.profile import Profile
from lab.links.recorded import Series, load_series
from lab.traces.datasets import dataset

CAUTIONS = {
    "goodput": "is shaped by what TCP got there, which its congestion control had shaped already: a lower bound",
    "usage": "is shaped by what its users happened to send, which is no capacity",
    None: "is shaped by a rate whose source does not state whether the link was saturated",
}


def series_of(profile: Profile) -> Iterator[tuple[str, Series]]:
    """Name every recorded series of a profile, with its field."""
    if profile.rtt_ms:
        yield "rtt_ms", profile.rtt_ms.series
    for name, way in (("down", profile.down), ("up", profile.up)):
        for quantity in ("rate_mbps", "opportunities", "delay_ms", "loss_pct"):
            value = getattr(way, quantity)
            if isinstance(value, Series):
                yield f"{name}.{quantity}", value


def cautions(name: str, profile: Profile) -> Iterator[str]:
    """Return one line per doubt about a profile; UserError where it names an unknown dataset."""
    for field, series in series_of(profile):
        if series.dataset and not dataset(series.dataset).fetched:
            yield f"{name}: {field}: not fetched yet: run 'lab traces fetch {series.dataset}'"
        elif field.endswith("rate_mbps"):
            meaning = load_series(series, COLUMNS[field], profile.file, field).meaning
            if meaning != "capacity":
                yield f"{name}: {field}: {CAUTIONS[meaning]} ({series.name})"
