# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial's plan: the same seed gives the same link, for every sender."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.base.errors import UserError
from lab.links.profile import Profile
from lab.links.tc_alone import NETEM
from lab.node.plan import Plan
from lab.runs.experiment import load_experiment
from lab.runs.idle_path import PROBE_FRAME_BYTES
from lab.runs.plan import draw, make_plan, modules_of, needed_modules, trial_seed
from lab.schema.cca import load_ccas
from tests.conftest import SMALL, experiment_on

GEO = load_experiment("geo")
CCAS = load_ccas()


def plan_of(cca: str, number: int = 1) -> Plan:
    return make_plan(GEO, CCAS[cca], draw(GEO, number))


def plan_on(down: dict[str, Any]) -> Plan:
    """The plan of CUBIC over a link of the test's own, 5 ms each way."""
    profile: dict[str, Any] = {"title": "t", "down": down, "up": {"delay_ms": 5.0}, "recorded": [], "assumed": []}
    experiment = experiment_on(Profile.model_validate(profile), "cubic")
    return make_plan(experiment, experiment.ccas["cubic"], draw(experiment, 1))


def link_of(plan: Plan) -> str:
    return json.dumps({part: plan[part] for part in ("seed", "shapes", "link", "start_phase_s")})


def test_every_sender_of_a_trial_meets_the_same_link_and_another_trial_another_seed() -> None:
    assert len({link_of(plan_of(cca, 3)) for cca in GEO.ccas}) == 1
    plan = plan_of("search", 1)
    assert link_of(plan) != link_of(plan_of("search", 2))
    assert json.loads(json.dumps(plan)) == plan  # plain JSON
    assert len({trial_seed(scenario, number) for scenario in range(5) for number in range(200)}) == 1000


def test_bins_are_traced_for_a_search_that_reports_and_a_sender_that_does_not_is_watched() -> None:
    foreign = CCAS["search"].model_copy(update={"name": "foreign", "module": "foreign", "reports_exit": False})
    assert "search:search_bin" in plan_of("search")["trace"]["events"]
    assert "search:search_bin" not in make_plan(GEO, foreign, draw(GEO, 1))["trace"]["events"]
    watch = {"name": "tcp_slow_start_watch", "params": {"algorithms": "cubic"}}
    assert plan_of("cubic")["modules"] == [watch, {"name": "qdisc_sampler", "params": {}}]
    assert [module["name"] for module in plan_of("bbr")["modules"]][:2] == ["tcp_bbr", "tcp_slow_start_watch"]
    assert [module["name"] for module in plan_of("search")["modules"]] == ["tcp_search", "qdisc_sampler"]
    assert not any("file" in module for module in plan_of("search")["modules"])


def test_only_the_bottlenecks_are_slow_and_one_too_fast_for_tbf_keeps_a_clock_of_its_own() -> None:
    specs = {shape["part"]: shape["spec"] for shape in plan_of("cubic", 1)["shapes"]}
    assert 0 < specs["bottleneck"]["start_bps"] <= 144e6
    assert specs["bottleneck-up"]["kind"] == "on_demand"
    assert {part: spec["rate_bps"] for part, spec in specs.items() if part.startswith("delay-")} == {
        "delay-down": 10e9,
        "delay-up": 10e9,
    }
    for rate_mbps, kind in ((5000, "tbf"), (5001, "replay"), (10_000, "replay")):
        plan = plan_on({"rate_mbps": rate_mbps, "delay_ms": 5.0, "buffer_bdps": 1})
        assert {shape["spec"]["kind"] for shape in plan["shapes"] if shape["part"] == "bottleneck"} == {kind}


def test_a_probe_waits_until_an_idle_link_has_carried_it() -> None:
    """A slow link that replays takes time for a frame; tbf, whose bucket is full, takes none."""
    slow = {"rate_mbps": 1.0, "delay_ms": 5.0, "buffer_bytes": 50_000}
    replayed = slow | {"queue": {"kind": "pfifo"}}
    for down, asked_ms in ((replayed, 5.0 + PROBE_FRAME_BYTES * 8 / 1e3), (slow, 5.0)):
        assert [probe["delay_ms"] for probe in plan_on(down)["probes"]] == [pytest.approx(asked_ms), 5.0]


def test_a_sender_that_paces_gets_fq_where_it_sends_which_drops_no_burst() -> None:
    unpaced = load_experiment("compete-cubic")
    for experiment, cca, paced in ((GEO, "bbr", True), (GEO, "cubic", True), (unpaced, "cubic", False)):
        egress = make_plan(experiment, CCAS[cca], draw(experiment, 1))["egress"]
        assert [(each["node"], each["dev"], each["spec"]["kind"]) for each in egress] == [
            ("server", "eth1", "fq")
        ] * paced
    fq = {"kind": "fq", "limit_pkts": 10_000}
    alone = experiment_on(SMALL, "bbr")
    for experiment, flow_limit_pkts in ((alone, 100), (GEO, 10_000)):
        (shape,) = make_plan(experiment, CCAS["bbr"], draw(experiment, 1))["egress"]
        assert (shape["part"], shape["spec"]) == ("egress", fq | {"flow_limit_pkts": flow_limit_pkts})


def test_probes_of_a_slow_link_do_not_wait_for_each_other() -> None:
    down = {"rate_mbps": 0.01, "delay_ms": 10, "buffer_bytes": 50_000, "queue": {"kind": "pie"}}
    words = {"title": "t", "down": down, "up": {"delay_ms": 10}, "recorded": [], "assumed": ["everything"]}
    slow = experiment_on(Profile.model_validate(words), "cubic")
    probe_ms = 54 * 8 / 10  # of 54 bytes, at 10 bits a millisecond
    for way in make_plan(slow, CCAS["cubic"], draw(slow, 1))["probes"]:
        assert way["interval_ms"] == pytest.approx(1.37 * probe_ms)


def test_probes_of_an_idle_path_are_further_apart_than_its_frames_and_wait_for_a_grant_at_most() -> None:
    down, up = plan_of("cubic")["probes"]
    assert GEO.profile.up.on_demand
    frame_ms = GEO.profile.up.on_demand.frame_ms
    assert (down["grant_ms"], up["grant_ms"]) == (0.0, frame_ms)
    assert down["interval_ms"] == up["interval_ms"] == pytest.approx(1.37 * frame_ms)
    assert [(way["way"], way["from"], way["to"], way["count"]) for way in (down, up)] == [
        ("down", "server", "client", 12),
        ("up", "client", "server", 12),
    ]
    plain = experiment_on(SMALL, "cubic")
    assert [way["interval_ms"] for way in make_plan(plain, CCAS["cubic"], draw(plain, 1))["probes"]] == [10.0, 10.0]


def test_only_a_download_of_a_size_has_one_and_both_downloads_have_their_own_ends() -> None:
    sized = experiment_on(SMALL, "cubic", size_bytes=3_000_000)
    assert make_plan(sized, CCAS["cubic"], draw(sized, 1))["flows"][0]["size_bytes"] == 3_000_000
    pair = load_experiment("compete-bbr")
    first, second = make_plan(pair, CCAS["cubic"], draw(pair, 1))["flows"]
    assert (first["algorithm"], second["algorithm"]) == ("cubic", "bbr")
    assert first["sender"] != second["sender"]
    assert first["receiver"] != second["receiver"]
    assert ("client_port" in first, second["client_port"]) == (False, 20_002)
    assert "size_bytes" not in first


def test_rivals_have_ports_of_their_own_a_pair_of_hosts_per_entry_and_begin_when_theirs_do() -> None:
    """The fifth entry shares the first one's hosts; the trace takes every server's port."""
    last = [{"cca": name} for name in ("search", "reno", "cubic")]
    entries = [{"cca": "cubic", "count": 2}, {"cca": "bbr", "start_s": 1.5}, *last]
    experiment = load_experiment("share-32", {"rivals": entries})
    plan = make_plan(experiment, CCAS["search"], draw(experiment, 1))
    found = [(flow["algorithm"], flow["sender"], flow["port"], flow.get("client_port")) for flow in plan["flows"]]
    assert found == [
        ("search", "server1", 5201, None),
        ("cubic", "server2", 5201, 20_002),
        ("cubic", "server2", 5202, 20_003),
        ("bbr", "server3", 5201, 20_004),
        ("search", "server4", 5201, 20_005),
        ("reno", "server5", 5201, 20_006),
        ("cubic", "server2", 5203, 20_007),
    ]
    assert [flow["duration_s"] for flow in plan["flows"]] == [20, 20, 20, 18.5, 20, 20, 20]
    assert plan["flows"][3]["start_s"] == 1.5
    assert [shape["node"] for shape in plan["egress"]] == ["server3"]
    assert plan["trace"]["events"]["tcp:tcp_probe"] == "sport >= 5201 && sport <= 5203"


def test_a_published_figure_may_be_of_a_sender_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.yml"
    published = "published:\n  - {cca: mine, source: a paper, early_pct: 1, chokepoint_pct: 98, late_pct: 1}\n"
    file.write_text(
        "question: When?\nprofile: wired-clean\ntopology: path\nccas: [mine]\n"
        f"trials: 1\nduration_s: 5\nseed: 1\n{published}"
    )
    mine = CCAS["cubic"].model_copy(update={"name": "mine"})
    assert load_experiment(str(file), senders={"mine": mine}).ccas == {"mine": mine}
    with pytest.raises(UserError, match=r"published\.cca=mine: must be a known sender"):
        load_experiment(str(file), {"ccas": ["cubic"]})


def test_a_scenario_that_replays_what_nobody_has_is_refused_before_a_trial() -> None:
    assert load_experiment("geo", {"replayed": ["search2", "search1_poster_geo"]}).scenario.replayed
    with pytest.raises(
        UserError, match=r"geo\.yml: replayed=serch2: must be a version of SEARCH: did you mean search2"
    ):
        load_experiment("geo", {"replayed": ["search2", "serch2"]})


def test_a_file_named_as_the_other_senders_module_is_refused() -> None:
    bbr = CCAS["bbr"]
    copy = bbr.model_copy(update={"name": "bbr_tcp_bbr", "module_digest": "0123"})
    with pytest.raises(UserError, match="sender=bbr_tcp_bbr: must be a module of another name than tcp_bbr"):
        modules_of([copy, bbr])
    renamed = copy.model_copy(update={"module": "mine"})
    assert [each["name"] for each in modules_of([renamed, bbr])][:2] == ["mine", "tcp_bbr"]


def test_a_real_machine_needs_the_modules_of_the_senders_of_the_links_qdiscs_and_of_what_watches() -> None:
    experiment = experiment_on(SMALL, "search", "bbr", "cubic")
    watching, qdiscs = ["qdisc_sampler", "tcp_slow_start_watch"], ["sch_netem", "sch_tbf"]
    senders = ["tcp_bbr", "tcp_search"]
    assert needed_modules(experiment) == sorted([*watching, *qdiscs, *senders, "sch_replay", "sch_delay_line"])
    assert needed_modules(replace(experiment, shaper=NETEM)) == sorted([*watching, *qdiscs, *senders])
    own = CCAS["search"].model_copy(update={"module_digest": "d", "depends": ["tcp_slow_start"]})
    mixed = replace(experiment, ccas={"search": own}, shaper=NETEM)
    assert needed_modules(mixed) == sorted([*watching, *qdiscs, "tcp_slow_start"])
    modules = make_plan(mixed, own, draw(mixed, 1))["modules"]
    assert modules[:2] == [
        {"name": "tcp_slow_start", "params": {}},
        {"name": "tcp_search", "params": own.params, "file": "own/tcp_search.ko"},
    ]


def test_two_senders_without_an_exit_event_are_watched_by_one_module() -> None:
    pair = load_experiment("compete-bbr")
    modules = make_plan(pair, CCAS["cubic"], draw(pair, 1))["modules"]
    watched = [module["params"] for module in modules if module["name"] == "tcp_slow_start_watch"]
    assert watched == [{"algorithms": "cubic,bbr"}]
    twice = load_experiment("compete-cubic")
    modules = make_plan(twice, CCAS["cubic"], draw(twice, 1))["modules"]
    assert modules[0]["params"] == {"algorithms": "cubic"}


def test_a_senders_own_settings_and_kernel_are_its_trials_and_those_of_the_link() -> None:
    assert plan_of("dctcp")["sysctls"]["ends"]["net.ipv4.tcp_ecn"] == "1"
    assert plan_of("cubic")["sysctls"]["ends"]["net.ipv4.tcp_ecn"] == "0"
    assert "kernel" not in plan_of("cubic")
    other = CCAS["cubic"].model_copy(update={"kernel": "kernel-0"})
    assert make_plan(GEO, other, draw(GEO, 1)) == plan_of("cubic") | {"kernel": "kernel-0"}
    pair = load_experiment("compete-cubic")
    needy = CCAS["cubic"].model_copy(update={"kernel": "kernel-0"})
    assert make_plan(replace(pair, rivals={"cubic": needy}), CCAS["cubic"], draw(pair, 1))["kernel"] == "kernel-0"
    other = needy.model_copy(update={"kernel": "kernel-1"})
    with pytest.raises(UserError, match=r"^command line: rival=cubic: must be a sender of the same kernel as cubic$"):
        make_plan(replace(pair, rivals={"cubic": other}), needy, draw(pair, 1))


def test_senders_take_the_place_of_those_of_their_names_and_a_rival_without_one_stays() -> None:
    experiment = load_experiment("compete-bbr")
    other = next(iter(experiment.ccas.values())).model_copy(update={"label": "changed"})
    changed = experiment.with_senders({other.name: other})
    assert changed.ccas[other.name].label == "changed"
    assert changed.rivals == experiment.rivals
    rival = experiment.rivals["bbr"].model_copy(update={"label": "changed too"})
    assert experiment.with_senders({rival.name: rival}).rivals == {"bbr": rival}
