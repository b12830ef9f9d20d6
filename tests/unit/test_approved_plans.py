# SPDX-License-Identifier: GPL-2.0-or-later
"""What a node is to do and the first link of each profile are what was read and approved."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest
from pydantic import BaseModel

from lab.base.errors import UserError
from lab.base.named_files import profile_files
from lab.links.models import MODELS
from lab.links.recorded import Series
from lab.links.shapes import write_steps
from lab.links.tc_alone import NETEM
from lab.node.plan import Plan
from lab.runs.experiment import Experiment, digest, first_names, load_experiment, specification, trial_part
from lab.runs.link_kinds import links
from lab.runs.plan import draw, make_plan
from lab.schema.cca import load_ccas
from lab.schema.sysctls import load_sysctls
from tests.approved import approved, json_in_six_digits
from tests.conftest import SMALL, experiment_on

KNOWN = ("link", "shapes", "topology")  # the link is in another approved text, the topology is a file
SENDERS = (
    ("geo", "search"),
    ("geo", "dctcp"),
    ("compete-bbr", "cubic"),
    ("download-wifi", "cubic"),
    ("short-web-geo", "search"),
    ("short-video-wifi", "cubic"),
    ("short-requests-geo", "cubic"),
    ("tcp-quic", "search_quic"),
)
MOST_TEXT = 1000  # of a field: a workload is known by its beginning


def plan_lines(name: str, plan: Plan, known: Plan | None = None) -> list[str]:
    """A plan without its link, one line per field that a known one has otherwise; its settings are its own ones."""
    shown = _shown(plan)
    other = _shown(known) if known else {}
    return [f"{name}: {part}: {shown.get(part)}" for part in {**shown, **other} if shown.get(part) != other.get(part)]


def _shown(plan: Plan) -> dict[str, str]:
    usual = load_sysctls().values()
    own = {
        end: dict(sorted(values.items() - usual[end].items()))  # type: ignore[attr-defined]
        for end, values in plan["sysctls"].items()
    }
    fields = {**plan, "sysctls": own}
    return {part: json_in_six_digits(value)[:MOST_TEXT] for part, value in fields.items() if part not in KNOWN}


def planned(experiment: Experiment, cca: str) -> Plan:
    return make_plan(experiment, experiment.ccas.get(cca) or load_ccas()[cca], draw(experiment, 1))


def test_a_plan_of_each_kind_is_the_approved_one() -> None:
    plans = {f"{name}, {cca}": planned(load_experiment(name), cca) for name, cca in SENDERS}
    small = experiment_on(SMALL, "cubic", "bbr", size_bytes=3_000_000)
    plans["small, by tc alone"] = planned(replace(small, shaper=NETEM), "bbr")
    first = next(iter(plans.values()))
    found = [line for name, plan in plans.items() for line in plan_lines(name, plan, None if plan is first else first)]
    text = "\n".join(found) + "\n"
    assert text == approved("plans.txt", text)


def test_the_links_of_a_comparison_are_the_approved_ones() -> None:
    chosen = {
        "all": links(None),
        "quick": links(None, quick=True),
        "chosen": links(["leo", "wired-clean", "leo-starlink-thesis"], duration_s=9),
        "chosen, quick": links(["geo", "leo-starlink-thesis"], quick=True),
    }
    rows = [f"{name}: {link.topology}, {link.title}: {asdict(link)}" for name, of in chosen.items() for link in of]
    text = "\n".join(rows) + "\n"
    assert text == approved("comparison-links.txt", text)
    with pytest.raises(UserError, match=r"^command line: links=geo: must be a link that is named once$"):
        links(["geo", "geo"])


def test_the_digest_of_a_specification_is_the_approved_one_or_no_stored_run_would_be_known() -> None:
    claims = [{"cca": "search", "counterfactuals": ["x"], "open": "why"}]
    scenario = {"profile": "geo", "campaign": True, "in_summary": False, "workload": None, "claims": claims}
    sender = {"name": "search", "reports_exit": True, "exit_label": "SEARCH", "depends": [], "transport": "tcp"}
    quic = {**sender, "transport": "quic", "stack": "quiche", "depends": ["tcp_slow_start"]}
    rows = [f"{first_names(part)}: {digest(part)}" for part in (trial_part(scenario), sender, [quic, sender])]
    parts = sorted(specification(experiment_on(SMALL, "search"))["digests"])
    by_tc = sorted(specification(replace(load_experiment("compete-bbr"), shaper=NETEM))["digests"])
    text = "\n".join([*rows, f"of a run: {parts}", f"of two downloads by tc alone: {by_tc}"]) + "\n"
    assert text == approved("specifications.txt", text)


def link_lines(name: str, folder: Path) -> list[str]:
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
    found = [line for name in modelled for line in link_lines(name, tmp_path / name)]
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
