# SPDX-License-Identifier: GPL-2.0-or-later
"""What is wrong with the files that a profile names, and what to know before its result is believed."""

from collections.abc import Iterator

import numpy as np

from lab.base.errors import UserError
from lab.links.draw import COLUMNS, draw_link, load_recorded
from lab.links.profile import Profile, series_of
from lab.links.recorded import load_series
from lab.traces.datasets import dataset

SHORTEST_S = 1.0  # of a trial
CAUTIONS = {
    "goodput": "is shaped by what TCP got there, which its congestion control had shaped already: a lower bound",
    "usage": "is shaped by what its users happened to send, which is no capacity",
    None: "is shaped by a rate whose source does not state whether the link was saturated",
}


def is_fetched(profile: Profile) -> bool:
    """Return whether every recording of datasets.yml that a profile names is here."""
    return all(dataset(series.dataset).fetched for _, series in series_of(profile) if series.dataset)


def faults(profile: Profile) -> Iterator[UserError]:
    """Open each file that a profile names; what is missing, ambiguous or broken is a fault."""
    found = 0
    for field, series in series_of(profile):
        try:
            if not series.dataset or dataset(series.dataset).fetched:
                load_recorded(series, field, profile.file)
        except UserError as error:
            found += 1
            yield error
    short = None if found or not is_fetched(profile) else too_short(profile, SHORTEST_S)
    if short:
        yield short


def too_short(profile: Profile, duration_s: float) -> UserError | None:
    """Return why a trial of this duration has no link; None where it has."""
    try:
        draw_link(profile, duration_s, np.random.default_rng(1))
    except UserError as error:
        return error
    return None


def cautions(name: str, profile: Profile) -> Iterator[str]:
    """Return one line per doubt about a profile; UserError where it names an unknown dataset."""
    for field, series in series_of(profile):
        if series.dataset and not dataset(series.dataset).fetched:
            yield f"{name}: {field}: not fetched yet: run 'lab traces fetch {series.dataset}'"
        elif field.endswith("rate_mbps"):
            meaning = load_series(series, COLUMNS[field], profile.file, field).meaning
            if meaning != "capacity":
                yield f"{name}: {field}: {CAUTIONS[meaning]} ({series.name})"
