# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders over QUIC are stanzas of quic.yml: planned on the same link, refused where they cannot run."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from lab_quic.programs import STACKS, program_of
from lab_quic.way import QUIC
from lab_vm.host import Host

from lab.base import paths, sandbox
from lab.base.errors import UserError
from lab.images import image
from lab.kernel.program import Program
from lab.node.plan import Plan
from lab.runs.experiment import load_experiment, try_link
from lab.runs.plan import draw, make_plan
from lab.runs.vary import at
from lab.schema.cca import cca_names, load_cca, load_ccas, load_senders, looks
from lab.senders.ways import prepared
from tests.brief import error_of, put
from tests.command import lab, refused
from tests.conftest import SMALL, experiment_on
from tests.own_cache import unbuilt

LOOKS = (
    'label: mine\n  slow_start_exit: loss\n  exit_label: loss\n  marker: "1"\n  linestyle: "-"\n  colour: "#000000"\n'
)


def planned(transport: str, **fields: object) -> Plan:
    experiment = experiment_on(SMALL, "search", **fields)  # type: ignore[arg-type]
    sender = QUIC.senders()["search_quic"] if transport == "quic" else load_ccas()["search"]
    return make_plan(replace(experiment, ccas={sender.name: sender}), sender, draw(experiment, 1))


def test_the_link_is_the_same_over_both_transports() -> None:
    tcp, quic = planned("tcp"), planned("quic")
    same = ("seed", "topology", "addresses", "link", "shapes", "start_phase_s", "probes", "sampler", "sysctls")
    assert {key: tcp[key] for key in same} == {key: quic[key] for key in same}  # type: ignore[literal-required]


def test_no_tcp_sender_is_loaded_or_traced_beside_quic() -> None:
    plan = planned("quic")
    assert [module["name"] for module in plan["modules"]] == ["qdisc_sampler"]
    assert list(plan["trace"]["events"]) == ["qdisc_sampler:qdisc_sample"]
    assert plan["flows"][0]["quic"]["datagram_bytes"] == 1472
    assert plan["mss_bytes"] == 1440
    assert plan["capture"]["snaplen_bytes"] == 64
    assert plan["egress"] == []
    assert "work" not in planned("tcp")
    assert "quic" not in planned("tcp")["flows"][0]


def test_parameters_of_a_core_are_in_the_plan_and_those_of_a_stanza_alone() -> None:
    sender = QUIC.senders()["careful_resume_quic"].model_copy(update={"params": {"saved_cwnd_pkts": 100}})
    experiment = replace(experiment_on(SMALL, "search"), ccas={sender.name: sender})
    assert make_plan(experiment, sender, draw(experiment, 1))["flows"][0]["quic"]["params"] == {"saved_cwnd_pkts": 100}
    assert "params" not in planned("quic")["flows"][0]["quic"]


def test_vary_changes_a_parameter_of_a_core_and_of_no_other_controller() -> None:
    experiment = load_experiment("tcp-quic")
    varied = at(experiment, {"careful_resume_quic.saved_cwnd_pkts": "200"})
    assert varied.ccas["careful_resume_quic"].params == {"saved_cwnd_pkts": 200}
    with pytest.raises(UserError, match=r"bbr_quic\.bins=4: must be a parameter of a sender that has some"):
        at(experiment, {"bbr_quic.bins": "4"})


def test_a_route_whose_packets_are_too_small_for_quic_is_refused() -> None:
    assert planned("quic", mtu_bytes=1228)["flows"][0]["quic"]["datagram_bytes"] == 1200
    assert error_of(planned, "quic", mtu_bytes=1227) == "mtu_bytes=1227: must be at least 1228 for a sender over QUIC"


def test_a_second_download_beside_quic_is_refused() -> None:
    with pytest.raises(UserError, match=r"rival=cubic: must be absent with a sender over QUIC \(search_quic\)"):
        try_link("wired-clean", ["search_quic"], {"rival": "cubic", "topology": "dumbbell"})


def test_a_workload_over_quic_is_planned_as_over_tcp_and_keeps_its_ends() -> None:
    workload = {"kind": "web", "pages": 2, "reading_s": 1}
    tcp, quic = planned("tcp", workload=workload), planned("quic", workload=workload)
    assert (tcp["work"], quic["work"]) == ("workload", "lab_quic.node.quic.run_trial")
    assert quic["flows"][0]["workload"] == tcp["flows"][0]["workload"]
    assert quic["flows"][0]["size_bytes"] == tcp["flows"][0]["size_bytes"]
    assert quic["flows"][0]["quic"]["program"] == "own/lab-quic"


def test_a_rival_over_quic_is_refused_as_a_sender_over_quic_is(tmp_path: Path) -> None:
    file = tmp_path / "mine.yml"
    fields = "topology: dumbbell\nprofile: wired-clean\ntrials: 1\nduration_s: 3\nseed: 1\n"
    file.write_text(f"question: Who wins?\nccas: [cubic]\nrival: search_quic\n{fields}")
    assert "rival=search_quic: must be absent with a sender over QUIC" in error_of(load_experiment, str(file))


def test_a_scenario_names_senders_of_both_files() -> None:
    experiment = load_experiment("tcp-quic")
    assert {sender.transport for sender in experiment.ccas.values()} == {"tcp", "quic"}
    assert set(QUIC.senders()) <= set(cca_names())
    assert not set(QUIC.senders()) & set(load_ccas())


def test_an_unknown_sender_is_answered_with_those_of_both_files() -> None:
    line = r"cca=cubicquic: must be a known sender of lab/cca\.yml or a package: did you mean cubic_quic.* cubic"
    with pytest.raises(UserError, match=line):
        load_cca("cubicquic", "command line", "cca")


@pytest.mark.parametrize(
    ("stanza", "line"),
    [
        (
            f"mine:\n  transport: quic\n  algorithm: cubic\n  module: tcp_x\n  {LOOKS}",
            "a sender over QUIC without module",
        ),
        (
            f"mine:\n  transport: quic\n  stack: quinn\n  algorithm: cubic\n  first_window_pkts: 8192\n  {LOOKS}",
            "without module, sysctls, qdisc and first_window_pkts",
        ),
        (
            f"mine:\n  transport: quic\n  stack: quinn\n  algorithm: bbr\n  params: {{bins: 10}}\n  {LOOKS}",
            "mine.params={'bins': 10}: must be left out: only controllers around a core have some, on quinn",
        ),
        (
            f"mine:\n  transport: quic\n  stack: ngtcp2\n  algorithm: cubic\n  params: {{bins: 10}}\n  {LOOKS}",
            "must be left out: only controllers around a core have some, on quinn",
        ),
        (f"mine:\n  algorithm: cubic\n  {LOOKS}", "name=mine: must be given with transport: quic"),
        (
            f"search:\n  transport: quic\n  stack: quinn\n  algorithm: cubic\n  {LOOKS}",
            "name=search: must be another name: lab/cca.yml has it",
        ),
        (f"mine:\n  transport: quic\n  algorithm: cubic\n  {LOOKS}", "mine.stack=: must be quinn or ngtcp2"),
        (f"mine:\n  transport: quic\n  stack: quiche\n  algorithm: cubic\n  {LOOKS}", "stack=quiche: must be"),
    ],
)
def test_a_stanza_that_is_no_sender_over_quic_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stanza: str, line: str
) -> None:
    file = put(tmp_path / "quic.yml", stanza)
    monkeypatch.setattr(QUIC, "file", file)
    refused = error_of(QUIC.senders)
    assert line in refused
    assert str(QUIC.file.name) in refused


def test_the_trial_of_each_stack_starts_its_own_program() -> None:
    experiment = load_experiment("quic-stacks")
    plans = {name: make_plan(experiment, sender, draw(experiment, 1)) for name, sender in experiment.ccas.items()}
    programs = {name: plan["flows"][0]["quic"]["program"] for name, plan in plans.items() if "work" in plan}
    assert programs["hystartpp_quic"] == "own/lab-quic"
    assert programs["hystartpp_ngtcp2"] == "own/lab-ngtcp2"
    assert {stack.place for stack in STACKS.values()} == set(programs.values())


def test_every_stack_of_a_stanza_has_a_program_and_a_known_licence() -> None:
    assert {sender.stack for sender in QUIC.senders().values()} == set(STACKS)
    assert all("MIT" in stack.source for stack in STACKS.values())


def test_the_world_has_the_gnutls_with_which_ngtcp2_is_built() -> None:
    world, builder = image.locked("world"), image.locked("ngtcp2-build")
    shared = ("libgnutls30t64", "libnettle8t64", "libhogweed6t64", "libc6")
    assert {name: world[name] for name in shared} == {name: builder[name] for name in shared}


@pytest.mark.parametrize("name", ["search_quic", "hystartpp_ngtcp2"])
def test_a_program_that_was_never_built_or_is_gone_is_one_line(tmp_path: Path, name: str) -> None:
    sender, gone = QUIC.senders()[name], Host("netns", own_modules={"0123": tmp_path / "gone"})
    program = "lab-quic" if sender.stack == "quinn" else "lab-ngtcp2"
    for each in (sender, sender.model_copy(update={"module_digest": "0123"})):
        with pytest.raises(
            UserError, match=rf"^{program}: must be built and in the cache: .* --cca {name}' builds it$"
        ):
            program_of(each, gone)


def test_an_own_sender_looks_like_no_sender_of_either_file() -> None:
    known = load_senders()
    taken = {sender.look for sender in known.values()}
    assert len(taken) == len(known)
    free = looks(taken)
    new = [(look["marker"], look["linestyle"]) for look, _ in zip(free, range(200), strict=False)]
    assert len({*new}) == 200
    assert not taken & {*new}


def test_many_more_senders_over_tcp_take_no_look_that_one_over_quic_states(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stanza = "more{}:\n  label: more\n  algorithm: cubic\n  slow_start_exit: loss\n"
    file = put(
        tmp_path / "cca.yml", paths.CCAS.read_text() + "\n" + "\n".join(stanza.format(number) for number in range(60))
    )
    monkeypatch.setattr("lab.schema.cca.CCAS", file)
    known = load_ccas()  # none of them is refused as a likeness of one of quic.yml
    assert len({sender.look for sender in (known | QUIC.senders()).values()}) == len(known) + len(QUIC.senders())


def test_a_sender_over_quic_beside_an_own_module_runs_in_virtual_time_only(tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text("int x;\n")
    line = refused(lab(tmp_path, "try", str(tmp_path / "mine.c"), "--against", "search_quic", "--backend", "vm"))
    assert "backend=vm: must be virtual: senders over QUIC (search_quic) run in the virtual kernel only" in line


def test_a_sender_over_quic_runs_in_virtual_time_only(tmp_path: Path) -> None:
    line = refused(lab(tmp_path, "run", "tcp-quic", "--backend", "host"))
    assert "backend=host: must be virtual: senders over QUIC (search_quic" in line


def test_each_stack_of_a_senders_is_built_once_and_its_program_is_that_of_the_sender(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build itself is in packages/quic/tests/kernel/test_quic_program.py."""
    built: list[str] = []

    def prepare(stack: str, progress: Callable[[str], None]) -> Path:
        progress(f"building {stack}")
        return tmp_path

    monkeypatch.setattr(sandbox, "require", lambda: None)
    for stack, known in STACKS.items():
        pinned = partial(Program, tmp_path / stack / "program", f"digest of {stack}")
        one = replace(known, pinned=pinned, prepare=partial(prepare, stack), build=lambda _root, _draft: None)
        monkeypatch.setitem(STACKS, stack, one)
    quic, cubic = QUIC.senders(), load_ccas()["cubic"]
    before = unbuilt(tmp_path)
    assert prepared({"cubic": cubic}, before, built.append) == ({"cubic": cubic}, before)
    chosen = {name: quic[name] for name in ("search_quic", "cubic_quic", "hystartpp_ngtcp2")}
    senders, after = prepared({**chosen, "cubic": cubic}, before, built.append)
    assert built == ["building ngtcp2", "building quinn"]
    assert senders["cubic"] == cubic
    for name, sender in chosen.items():
        assert senders[name] == sender.model_copy(update={"module_digest": f"digest of {sender.stack}"})
    programs = {f"digest of {stack}": tmp_path / stack / "program" for stack in ("ngtcp2", "quinn")}
    assert after.own_modules == {**before.own_modules, **programs}
    assert (after.kernel, after.world) == (before.kernel, before.world)
