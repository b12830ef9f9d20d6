# SPDX-License-Identifier: GPL-2.0-or-later
"""Every sender of cca.yml downloads in the virtual kernel, and its exit from slow start is on record."""

import itertools

import polars as pl
import pytest

from lab.links.draw import nominal_rtt_ms
from lab.schema.cca import LINESTYLES, MARKERS, load_ccas
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, Bench, experiment_on
from tests.seen_exits import seen_exit

CCAS = load_ccas()
# On the small path, which has a buffer of twice its bandwidth-delay product: what ended the first slow start.
BY_RULE = {"cubic": "hystart", "bbr": "bbr", "cdg": "cdg", "nv": "nv", "vegas": "vegas"}
TICK_S = 2e-6


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
    found = seen_exit(trial)
    assert found is not None
    assert found["t_s"] - TICK_S <= row["t_s"] <= found["next_s"]
    assert row["cwnd_pkts"] - found["cwnd_pkts"] in (0, 1, 2)
    assert row["ssthresh_pkts"] <= found["ssthresh_pkts"]
    if row["cause"] in ("loss", "hystart"):
        assert row["ssthresh_pkts"] == found["ssthresh_pkts"]


def test_bbrs_exit_is_known_with_the_threshold_that_tcp_probe_cannot_show(bench: Bench) -> None:
    """BBR leaves STARTUP with ssthresh at its estimate of the bandwidth-delay product: 173 segments of 1448 bytes."""
    (row,) = trial_of(bench, "bbr").exits.to_dicts()
    found = seen_exit(trial_of(bench, "bbr"))
    assert found is not None
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
