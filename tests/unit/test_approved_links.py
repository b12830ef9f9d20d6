# SPDX-License-Identifier: GPL-2.0-or-later
"""The first trial's link of each profile is the one that was read and approved: what is drawn, and each qdisc."""

from pathlib import Path

from pydantic import BaseModel

from lab.base.named_files import profile_files
from lab.links.models import MODELS
from lab.links.recorded import Series
from lab.links.shapes import write_steps
from lab.runs.experiment import load_experiment
from lab.runs.plan import draw, make_plan
from tests.approved import approved, json_in_six_digits


def lines(name: str, folder: Path) -> list[str]:
    """The link of a profile's first trial, a line per part."""
    experiment = load_experiment("geo", {"profile": name, "duration_s": 3})
    drawn = draw(experiment, 1)
    plan = make_plan(experiment, experiment.ccas["cubic"], drawn)
    write_steps(experiment.profile, drawn.link, folder)
    link = [f"{name}: {json_in_six_digits(plan['link'])}"]
    shapes = [f"{name}: {json_in_six_digits(shape)}" for shape in plan["shapes"]]
    steps = [f"{name}: {file.name}: {first_and_count(file)}" for file in sorted(folder.iterdir())]
    return link + shapes + steps


def first_and_count(file: Path) -> str:
    rows = file.read_text().splitlines()
    return f"{len(rows)} lines, the first: {rows[0] if rows else 'none'}"


def test_each_profiles_first_link_is_the_approved_one(tmp_path: Path) -> None:
    modelled = [name for name, file in sorted(profile_files().items()) if "dataset: " not in file.read_text()]
    found = [line for name in modelled for line in lines(name, tmp_path / name)]
    expected = approved("links.txt", "\n".join(found) + "\n").splitlines()
    known = {line.split(":")[0] for line in expected}  # a new profile waits for its approval
    assert [line for line in found if line.split(":")[0] in known] == expected


def test_what_a_model_does_not_state_is_as_approved() -> None:
    models: dict[str, type[BaseModel]] = {**MODELS, "series": Series}
    defaults = [
        f"{name}: {field}={about.default}"
        for name, model in sorted(models.items())
        for field, about in model.model_fields.items()
        if not about.is_required()
    ]
    text = "\n".join(defaults) + "\n"
    assert text == approved("models.txt", text)
