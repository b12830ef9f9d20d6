# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders over QUIC are stanzas of lab/quic.yml: planned on the same link, refused where they cannot run."""

from dataclasses import replace
from pathlib import Path

import pytest

from lab.base import paths
from lab.base.errors import UserError
from lab.node.plan import Plan
from lab.runs.experiment import load_experiment
from lab.runs.plan import draw, make_plan
from lab.runs.try_link import try_link
from lab.schema.cca import cca_names, load_cca, load_ccas, load_quic
from tests.command import lab, refused
from tests.conftest import SMALL, experiment_on

LOOKS = (
    'label: mine\n  slow_start_exit: loss\n  exit_label: loss\n  marker: "1"\n  linestyle: "-"\n  colour: "#000000"\n'
)


def planned(transport: str, **fields: object) -> Plan:
    experiment = experiment_on(SMALL, "search", **fields)  # type: ignore[arg-type]
    sender = load_quic()["search_quic"] if transport == "quic" else load_ccas()["search"]
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
    assert "work" not in planned("tcp")
    assert "quic" not in planned("tcp")["flows"][0]


def test_a_route_whose_packets_are_too_small_for_quic_is_refused() -> None:
    assert planned("quic", mtu_bytes=1228)["flows"][0]["quic"]["datagram_bytes"] == 1200
    with pytest.raises(UserError, match=r"^mtu_bytes=1227: must be at least 1228 for a sender over QUIC$"):
        planned("quic", mtu_bytes=1227)


def test_a_second_download_beside_quic_is_refused() -> None:
    with pytest.raises(UserError, match=r"rival=cubic: must be left out with a sender over QUIC \(search_quic\)"):
        try_link("wired-clean", ["search_quic"], {"rival": "cubic", "topology": "dumbbell"})


def test_a_scenario_names_senders_of_both_files() -> None:
    experiment = load_experiment("tcp-quic")
    assert {sender.transport for sender in experiment.ccas.values()} == {"tcp", "quic"}
    assert set(load_quic()) <= set(cca_names())
    assert not set(load_quic()) & set(load_ccas())


def test_an_unknown_sender_is_answered_with_those_of_both_files() -> None:
    files = r"lab/cca\.yml, lab/quic\.yml or lab/bpf\.yml"
    with pytest.raises(UserError, match=rf"cca=none: must be a known sender of {files}: bbr, .*search_quic"):
        load_cca("none", "command line", "cca")


@pytest.mark.parametrize(
    ("stanza", "line"),
    [
        (
            f"mine:\n  transport: quic\n  algorithm: cubic\n  module: tcp_x\n  {LOOKS}",
            "a sender over QUIC without module",
        ),
        (f"mine:\n  algorithm: cubic\n  {LOOKS}", "name=mine: must be given with transport: quic"),
        (
            f"search:\n  transport: quic\n  algorithm: cubic\n  {LOOKS}",
            "name=search: must be another name: lab/cca.yml has it",
        ),
    ],
)
def test_a_stanza_that_is_no_sender_over_quic_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stanza: str, line: str
) -> None:
    file = tmp_path / "quic.yml"
    file.write_text(stanza)
    monkeypatch.setattr("lab.schema.cca.QUIC", file)
    with pytest.raises(UserError) as error:
        load_quic()
    assert line in str(error.value)
    assert str(paths.QUIC.name) in str(error.value)


def test_a_sender_over_quic_runs_in_virtual_time_only(tmp_path: Path) -> None:
    line = refused(lab(tmp_path, "run", "tcp-quic", "--backend", "host"))
    assert "backend=host: must be virtual: senders over QUIC (search_quic" in line
