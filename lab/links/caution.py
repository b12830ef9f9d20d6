# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user should know before a profile's result is believed."""

from collections.abc import Iterator

from lab.links.draw import COLUMNS
from lab.links.profile import Profile, series_of
from lab.links.recorded import load_series
from lab.traces.datasets import dataset

CAUTIONS = {
    "goodput": "is shaped by what TCP got there, which its congestion control had shaped already: a lower bound",
    "usage": "is shaped by what its users happened to send, which is no capacity",
    None: "is shaped by a rate whose source does not state whether the link was saturated",
}


def cautions(name: str, profile: Profile) -> Iterator[str]:
    """Return one line per doubt about a profile; UserError where it names an unknown dataset."""
    for field, series in series_of(profile):
        if series.dataset and not dataset(series.dataset).fetched:
            yield f"{name}: {field}: not fetched yet: run 'lab traces fetch {series.dataset}'"
        elif field.endswith("rate_mbps"):
            meaning = load_series(series, COLUMNS[field], profile.file, field).meaning
            if meaning != "capacity":
                yield f"{name}: {field}: {CAUTIONS[meaning]} ({series.name})"
