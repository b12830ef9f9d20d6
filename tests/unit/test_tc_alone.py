# SPDX-License-Identifier: GPL-2.0-or-later
"""The shaper netem: what it refuses, the lines of tc that a series becomes, and that nobody else pays for it."""

import copy
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lab_vm.real_time import in_real_time

from lab.backends.backend import Description, Site
from lab.base.errors import UserError
from lab.base.paths import REPO
from lab.links.profile import load_profile
from lab.links.tc_alone import constant_delay, constant_rate
from lab.node.plan import Plan
from lab.node.qdiscs import qdisc
from lab.node.qdiscs.tc_alone import FLOOR_BPS, Followed
from lab.node.system.tools import NodeError
from lab.runs import find_run
from lab.runs.experiment import Experiment, load_experiment, shaped_by, specification, try_link
from lab.runs.plan import draw, make_plan, needed_modules
from lab.tables.stored_run import Run
from tests.brief import folder_at, put
from tests.certified import NODE, PLAN, TABLES, checked
from tests.stored_run import rewrite, run_json

TBF = constant_rate(8_000_000, 50_000)
NETEM = constant_delay({"limit_pkts": 1000, "delay_us": 20_000, "loss_pct": 0.0, "seed": 7})


def lines(tmp_path: Path, spec: dict[str, Any], text: str) -> list[tuple[float, str]]:
    file = put(tmp_path / "steps.tsv", text)
    return [(step["at_s"], qdisc.command("eth2", step["spec"], "change")) for step in Followed(file, spec).steps()]


TC = "qdisc change dev eth2 root handle 1:"
TBF_LINE = f"{TC} tbf rate {{}}bit burst 1600 limit 50000"
NETEM_LINE = f"{TC} netem limit 1000 delay {{}}us loss {{}}% rate 10000000000bit"


@pytest.mark.parametrize(
    ("spec", "text", "found"),
    [
        (TBF, "0\t8000000\n1500000\t2500000\n", [(0.0, TBF_LINE.format(8000000)), (1.5, TBF_LINE.format(2500000))]),
        (  # all but the seed
            NETEM,
            "0\t20000\t0\n250\t21500\t1.25\n",
            [(0.0, NETEM_LINE.format(20000, "0.0")), (0.00025, NETEM_LINE.format(21500, 1.25))],
        ),
        (  # a step that changes nothing
            TBF,
            "0\t5000000\n1000000\t5000000\n2000000\t6000000\n",
            [(0.0, TBF_LINE.format(5000000)), (2.0, TBF_LINE.format(6000000))],
        ),
        (TBF, "0\t0\n", [(0.0, TBF_LINE.format(FLOOR_BPS))]),  # a stall: the least rate that leaves tbf a rate
    ],
)
def test_each_change_states_all_of_the_qdisc(
    tmp_path: Path, spec: dict[str, Any], text: str, found: list[tuple[float, str]]
) -> None:
    assert lines(tmp_path, spec, f"{text}3000000\tend\n") == found


def test_a_series_that_holds_no_number_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(NodeError, match=r"^steps\.tsv: line 2: must hold whole numbers"):
        lines(tmp_path, TBF, "0\t5000000\n1000000\tfast\n3000000\tend\n")


@pytest.mark.parametrize(
    ("name", "refusal"),
    [
        ("lte-att", "lte-att.yml: down.opportunities=lte-mahimahi/ATT-LTE-driving-2016.down: must be absent with"),
        ("geo-viasat", "geo-viasat.yml: down.queue.kind=step_drop: must be bfifo with --shaper netem"),
        ("wifi-strong", "wifi-strong.yml: down.frames.period_ms=1.0: must be absent with --shaper netem"),
        ("lte-hotspot", "lte-hotspot.yml: up.frames.period_ms=5.0: must be absent with --shaper netem"),
    ],
)
def test_what_tc_cannot_do_is_refused_with_profile_and_field(name: str, refusal: str) -> None:
    with pytest.raises(UserError, match=re.escape(refusal)):
        shaped_by(try_link(name, ["cubic"], {}), "netem")


def test_a_buffer_of_unseen_limit_capacity_on_demand_and_an_unknown_shaper_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "small.yml"
    way = "{rate_mbps: 10, delay_ms: 10, buffer_bytes: 1599}"
    file.write_text(f"title: small\ndown: {way}\nup: {{delay_ms: 10}}\nrecorded: []\nassumed: []\n")
    with pytest.raises(UserError, match=r"down\.buffer_bytes=1599: must be at least 1600 with --shaper netem"):
        shaped_by(try_link(str(file), ["cubic"], {}), "netem")
    geo, experiment = load_profile("geo-viasat", "test"), load_experiment("geo")
    fifo = geo.down.model_copy(update={"queue": load_profile("agree", "test").down.queue})
    plain = Experiment("geo", experiment.scenario, geo.model_copy(update={"down": fifo}), experiment.topology, {})
    with pytest.raises(UserError, match=r"up\.on_demand\.report=\w+: must be absent with --shaper netem"):
        shaped_by(plain, "netem")
    with pytest.raises(UserError, match="shaper=htb: must be one of replay, netem"):
        shaped_by(experiment, "htb")


def plan_of(experiment: Experiment) -> Plan:
    return make_plan(experiment, experiment.ccas["cubic"], draw(experiment, 1))


LEO = try_link("leo-starlink-15s", ["cubic"], {})


def test_a_plan_of_tc_alone_differs_in_its_qdiscs_and_needs_no_replaying_module() -> None:
    usual: dict[str, Any] = {**plan_of(LEO)}
    other: dict[str, Any] = {**plan_of(shaped_by(LEO, "netem"))}
    kinds = {"replay": "tbf", "delay_line": "netem", "netem": "netem"}
    made = [shape["spec"]["kind"] for shape in other["shapes"]]
    assert made == [kinds[shape["spec"]["kind"]] for shape in usual["shapes"]]
    assert [shape["steps"] for shape in other["shapes"]] == [shape["steps"] for shape in usual["shapes"]]
    assert (other.pop("shaper"), usual.get("shaper")) == ("netem", None)
    assert {key for key in usual if usual[key] != other[key]} <= {"shapes", "probes"}  # tbf lets a probe pass at once
    assert other.keys() == usual.keys()
    assert not {"sch_replay", "sch_delay_line"} & set(needed_modules(shaped_by(LEO, "netem")))


def test_in_real_time_tbf_stays_with_room_for_a_late_timer() -> None:
    usual = {shape["part"]: shape["spec"] for shape in in_real_time(plan_of(LEO), "netns")["shapes"]}
    by_tc = in_real_time(plan_of(shaped_by(LEO, "netem")), "netns")
    other = {shape["part"]: shape["spec"] for shape in by_tc["shapes"]}
    assert (usual["bottleneck"]["kind"], other["bottleneck"]["kind"]) == ("replay", "tbf")
    assert other["bottleneck"]["burst_bytes"] == 1600 + round(other["bottleneck"]["rate_bps"] / 8 * 0.0005)


def test_runs_have_a_folder_of_their_own_and_the_usual_trial_imports_nothing_for_tc_alone() -> None:
    usual, other = specification(LEO), specification(shaped_by(LEO, "netem"))
    assert (usual["shaper"], other["shaper"]) == ("replay", "netem")
    assert other["name"] == f"{usual['name']}-netem"
    assert "shaper" not in usual["digests"]  # as in runs that were stored before there was a choice
    assert {part: digest for part, digest in other["digests"].items() if part != "shaper"} == usual["digests"]
    program = "import sys, lab.node.trial, lab.node.guest; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], cwd=REPO, capture_output=True, text=True, check=True)
    assert not {"lab.node.qdiscs.tc_alone", "lab.node.qdiscs.stepping"} & set(done.stdout.split())


@pytest.mark.parametrize(("stored", "now"), [("netem", "replay"), ("replay", "netem")])
def test_a_run_of_one_shaper_is_not_continued_with_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: str, now: str
) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    requested = shaped_by(LEO, now)
    folder = folder_at(tmp_path / requested.name / "2026-01-01T00-00-00Z")
    meta = {**run_json(("cubic",)), **specification(shaped_by(LEO, stored)), "complete": False}
    rewrite(folder / "run.json", meta)
    assert not Run(folder).complete
    site = Site(None, Description({"kernel_digest": "0"}, "", {}, {}))  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"shaper=\w+: must be [\w ]+, as it is now: run without --resume"):
        find_run.unfinished(requested, site)


def test_a_change_that_tc_makes_late_makes_the_trial_invalid() -> None:
    node = copy.deepcopy(NODE)
    played = {"changes": 100, "late_p99_ns": 4000, "late_max_ns": 9000}
    node["changes"] = [{"part": "bottleneck", "played": played}]
    name = "late changes by tc, bottleneck, latest"
    assert checked(PLAN, node, TABLES)[name]["ok"]
    played["late_max_ns"] = 150_000
    assert not checked(PLAN, node, TABLES)[name]["ok"]
