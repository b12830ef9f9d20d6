# SPDX-License-Identifier: GPL-2.0-or-later
"""The recordings that the link of an experiment needs."""

from lab.base.errors import UserError
from lab.links.profile import series_of
from lab.runs.experiment import Experiment
from lab.traces.datasets import Dataset, dataset


def unfetched(experiment: Experiment) -> list[Dataset]:
    """Return the recordings that an experiment's link needs and the cache does not have; none of an unknown name."""
    names = dict.fromkeys(series.dataset for _, series in series_of(experiment.profile) if series.dataset)
    try:
        return [each for each in map(dataset, names) if not each.fetched]
    except UserError:  # the run refuses it
        return []
