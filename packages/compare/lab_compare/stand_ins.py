# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs where a link's recordings are not fetched: the modelled profile that its own names as `stand_in`.

A stand-in has a name of its own in every folder and table, so it is never ranked as the recorded link.
"""

from dataclasses import replace

from lab.base.errors import UserError
from lab.links.profile import Profile, load_profile, series_of
from lab.runs.experiment import Experiment
from lab.runs.vary import point_name
from lab.traces.datasets import Dataset, dataset
from lab_compare.link_kinds import Link


def stand_in_of(profile: Profile) -> Profile | None:
    """Return the profile that stands in for a recorded one."""
    return load_profile(profile.stand_in, str(profile.file)) if profile.stand_in else None


def as_link(link: Link, profile: Profile) -> Link:
    """Return the stand-in's link, with trials as long as those of the link that it stands in for."""
    stem = profile.file.stem
    name = point_name(stem, dict(link.varied))
    meaning = f"{name}, modelled (stand-in for {link.name})"
    return replace(link, name=name, profile=stem, meaning=meaning, base=stem if link.base else "")


def lack_of(experiment: Experiment) -> str:
    """Say which recordings an experiment lacks, and how to fetch them; empty where it lacks none."""
    names = " ".join(each.name for each in unfetched(experiment))
    return f"recording not fetched (lab traces fetch {names})" if names else ""


def unfetched(experiment: Experiment) -> list[Dataset]:
    """Return the recordings that an experiment's link needs and the cache does not have; none of an unknown name."""
    names = dict.fromkeys(series.dataset for _, series in series_of(experiment.profile) if series.dataset)
    try:
        return [each for each in map(dataset, names) if not each.fetched]
    except UserError:  # the run refuses it
        return []
