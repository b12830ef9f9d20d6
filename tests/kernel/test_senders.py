# SPDX-License-Identifier: GPL-2.0-or-later
"""Every sender downloads, its exit and each cause of an exit are on record, and lab senders lists it."""

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lab.backends import boot
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.links.draw import nominal_rtt_ms
from lab.links.profile import Profile
from lab.node.plan import Plan
from lab.runs.trial import Job, prepare
from lab.schema.cca import LINESTYLES, MARKERS, load_ccas, load_senders
from lab.tables.stored_trial import Trial
from tests.brief import present
from tests.certified import decode
from tests.command import lab, refused
from tests.conftest import SMALL, Bench, experiment_on
from tests.exact_links import silent

CCAS = load_ccas()
# On the small path, which has a buffer of twice its bandwidth-delay product: what ended the first slow start.
BY_RULE = {"cubic": "hystart", "bbr": "bbr", "cdg": "cdg", "nv": "nv", "vegas": "vegas"}
TICK_S = 2e-6


def seen_exit(trial: Trial) -> dict[str, Any] | None:
    """The exit as tcp_probe alone shows it: the ACK before the first with a finite ssthresh, and the next one's time.

    tcp_probe shows the socket before each ACK; its ssthresh is tcp_current_ssthresh(), at least 3/4 of cwnd.
    """
    acks = trial.acks.filter(flow=1)
    finite = acks["ssthresh_pkts"].is_not_null().arg_true()
    if not len(finite):
        return None
    last, after = acks.row(max(int(finite[0]) - 1, 0), named=True), acks.row(int(finite[0]), named=True)
    return {
        "t_s": last["t_s"],
        "next_s": after["t_s"],
        "cwnd_pkts": last["cwnd_pkts"],
        "ssthresh_pkts": after["ssthresh_pkts"],
    }


def trial_of(bench: Bench, cca: str) -> Trial:
    return bench.run(experiment_on(SMALL, cca), cca, "small")


@pytest.mark.parametrize("cca", CCAS)
def test_each_sender_downloads_over_a_valid_link_and_its_exit_is_complete(bench: Bench, cca: str) -> None:
    trial = trial_of(bench, cca)
    assert [check for check in trial.meta["certificate"]["checks"] if not check["ok"]] == []
    (row,) = trial.exits.to_dicts()
    assert None not in row.values()
    assert row["cause"] in (CCAS[cca].slow_start_exit, "loss")
    assert row["cause"] == BY_RULE.get(cca, row["cause"])
    assert 0 < row["t_s"] < 4
    assert 2 <= row["ssthresh_pkts"] <= row["cwnd_pkts"]
    assert row["rtt_ms"] >= nominal_rtt_ms(SMALL)


@pytest.mark.parametrize("cca", CCAS)
def test_the_exit_on_record_is_the_one_that_tcp_probe_shows(bench: Bench, cca: str) -> None:
    """The oracle knows the exit to within one ACK, and ssthresh where that is not below 3/4 of the window."""
    trial = trial_of(bench, cca)
    (row,) = trial.exits.to_dicts()
    found = present(seen_exit(trial))
    assert found["t_s"] - TICK_S <= row["t_s"] <= found["next_s"]
    assert row["cwnd_pkts"] - found["cwnd_pkts"] in (0, 1, 2)
    assert row["ssthresh_pkts"] <= found["ssthresh_pkts"]
    if row["cause"] in ("loss", "hystart"):
        assert row["ssthresh_pkts"] == found["ssthresh_pkts"]


def test_bbrs_exit_is_known_with_the_threshold_that_tcp_probe_cannot_show(bench: Bench) -> None:
    """BBR leaves STARTUP with ssthresh at its estimate of the bandwidth-delay product: 173 segments of 1448 bytes."""
    (row,) = trial_of(bench, "bbr").exits.to_dicts()
    found = present(seen_exit(trial_of(bench, "bbr")))
    assert row["ssthresh_pkts"] == pytest.approx(20e6 / 8 * 0.1 / 1448, rel=0.1)
    assert found["ssthresh_pkts"] == 3 * row["cwnd_pkts"] // 4


def test_dctcp_negotiates_ecn_and_no_other_sender_does(bench: Bench) -> None:
    assert CCAS["dctcp"].sysctls == {"net.ipv4.tcp_ecn": "1"}
    assert [name for name, cca in CCAS.items() if cca.sysctls] == ["dctcp"]
    plan_sysctls = {
        name: (trial_of(bench, name).path / "plan.json").read_text().count('"net.ipv4.tcp_ecn": "1"')
        for name in ("dctcp", "reno")
    }
    assert plan_sysctls == {"dctcp": 1, "reno": 0}


def gaps_ms(trial: Trial) -> pl.Series:
    """The times between the data segments of the second flight, as they reached the client."""
    data = trial.packets.filter((pl.col("flow") == 1) & pl.col("to_client") & (pl.col("len_bytes") > 0))["t_s"]
    return data[10:30].diff().drop_nulls() * 1e3


def test_fq_paces_a_sender_in_virtual_time_and_is_recorded_with_the_trial(bench: Bench) -> None:
    """CUBIC's second flight: 20 segments at the link's 0.6 ms; with fq two by two, at twice its window an RTT."""
    paced = experiment_on(SMALL, "cubic")
    paced.ccas["cubic"] = CCAS["cubic"].model_copy(update={"qdisc": "fq"})
    with_fq = bench.run(paced, "cubic", "small-fq")
    assert gaps_ms(trial_of(bench, "cubic")).max() == pytest.approx(0.606, abs=0.01)
    assert 4 < float(gaps_ms(with_fq).max()) < 8  # type: ignore[arg-type]
    assert with_fq.meta["applied"][-1]["got"] == {"limit_pkts": 10_000, "flow_limit_pkts": 100}


def test_no_two_senders_look_alike_even_without_colour() -> None:
    looks = [(cca.marker, cca.linestyle) for cca in CCAS.values()]
    assert len(set(looks)) == len(looks)
    assert set(looks) >= set(itertools.islice(itertools.product(MARKERS, LINESTYLES[:1]), len(MARKERS)))


REPORTER, WATCHED = "cubic_plain", "reno"
Change = Callable[[Plan], None]


def download(
    bench: Bench, folder: Path, cca: str, profile: Profile = SMALL, change: Change | None = None
) -> dict[str, pl.DataFrame]:
    """Run the plan of a profile with a change of the test's own, and decode it."""
    folder /= "trial"
    folder.mkdir()
    experiment = experiment_on(profile, cca)
    plan = prepare(Job(experiment, cca, 1, folder, bench.backend), folder)
    if change:
        change(plan)
    boot.run_plan(plan, folder, bench.kernel, bench.world.root)
    return decode(folder, json.loads((folder / "node.json").read_text()), experiment.ccas[cca].exit_causes)


def full_local_queue(plan: Plan) -> None:
    """The sender's own interface refuses the second packet that waits in it."""
    spec = {"kind": "tbf", "rate_bps": 5e6, "burst_bytes": 1600, "limit_bytes": 2000}
    plan["egress"] = [{"part": "egress", "node": "server", "dev": "eth1", "spec": spec, "steps": None}]


@pytest.mark.parametrize("cca", [REPORTER, WATCHED])
def test_a_link_that_goes_silent_ends_slow_start_by_timeout(bench: Bench, tmp_path: Path, cca: str) -> None:
    tables = download(bench, tmp_path, cca, silent(0.4, 1.4))
    (row,) = tables["exits"].to_dicts()
    (expired,) = tables["ca_states"].filter((pl.col("flow") == 1) & (pl.col("state") == "loss"))["t_s"][:1]
    assert row["cause"] == "timeout"
    assert row["t_s"] == pytest.approx(expired, abs=1e-5)
    assert row["ssthresh_pkts"] < row["cwnd_pkts"]


@pytest.mark.parametrize("cca", [REPORTER, WATCHED])
def test_a_full_local_queue_ends_slow_start_by_neither_loss_nor_rule(bench: Bench, tmp_path: Path, cca: str) -> None:
    tables = download(bench, tmp_path, cca, change=full_local_queue)
    (row,) = tables["exits"].to_dicts()
    first = tables["ca_states"].filter((pl.col("flow") == 1) & pl.col("state").is_in(["cwr", "recovery", "loss"]))
    assert first["state"][0] == "cwr"
    assert row["cause"] == "other"
    assert row["t_s"] == pytest.approx(first["t_s"][0], abs=1e-5)


pytestmark = pytest.mark.usefixtures("kernel", "world")


def show(results: Path, name: str) -> str:
    done = lab(results, "senders", "show", name)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_list_has_every_sender_and_what_ends_its_slow_start(tmp_path: Path) -> None:
    listed = lab(tmp_path, "senders", "list").stdout
    assert re.findall("^[^ \\n]+", listed, re.MULTILINE) == list(load_senders())
    assert re.search(r"^reno +Reno \(built in\) *\n +exit: nothing but loss *$", listed, re.MULTILINE)


def test_a_module_of_the_lab_is_shown_with_its_parameters_as_the_kernel_has_them(tmp_path: Path) -> None:
    shown = show(tmp_path, "hystartpp")
    assert "source      lab/kernel/search/" in shown
    assert "exit        reported by the sender itself" in shown
    constants = {"min_rtt_thresh_us": 4000, "max_rtt_thresh_us": 16000, "min_rtt_divisor": 8, "n_rtt_sample": 8}
    for name, value in (constants | {"css_growth_divisor": 4, "css_rounds": 5, "l_pkts": 8}).items():
        assert f"parameter   {name} = {value}   " in shown


def test_a_sender_of_the_kernel_is_shown_with_its_source_its_memory_and_what_it_needs(
    tmp_path: Path, kernel: Kernel, world: Image
) -> None:
    source = kernel.described["kernel_source"]
    assert f"net/ipv4/tcp_bbr.c of {source}" in show(tmp_path, "bbr")
    assert "needs       qdisc fq" in show(tmp_path, "bbr")
    assert "module      tcp_cubic, built in" in show(tmp_path, "cubic")
    assert "104 bytes of its socket, and 64 bytes allocated" in show(tmp_path, "cdg")
    assert f"net/ipv4/tcp_cong.c of {source}" in show(tmp_path, "reno")
    assert "needs       net.ipv4.tcp_ecn=1" in show(tmp_path, "dctcp")
    assert world


def test_a_sender_that_does_not_exist_is_refused_in_one_line(tmp_path: Path) -> None:
    line = refused(lab(tmp_path, "senders", "show", "vegaz"))
    assert line.startswith("command line: name=vegaz: must be a known sender of lab/cca.yml or a package: ")
