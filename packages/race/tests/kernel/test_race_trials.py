# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials of a race: the second download begins when it should."""

from dataclasses import replace
from pathlib import Path

import pytest
from lab_race.experiments import Pairing, experiment, links
from lab_race.flows import flows

from lab.schema.cca import load_ccas
from tests.conftest import Bench


def test_a_rival_begins_later_and_both_end_together(bench: Bench, tmp_path: Path) -> None:
    (link,) = links("wired-0.5bdp", 2, tmp_path)
    pairing = Pairing(replace(link, duration_s=2), "search", 0.5)
    senders = {name: load_ccas()[name] for name in ("cubic", "search")}
    trial = bench.run(experiment(pairing, senders, 1), "cubic", "late-rival")
    assert trial.valid, trial.meta["certificate"]
    first, rival = trial.meta["flows"]
    assert rival["data_s"] - first["data_s"] == pytest.approx(0.5, abs=0.2)  # its handshake waits in the first's queue
    assert first["seconds"] == pytest.approx(2)
    assert rival["end_s"] == pytest.approx(first["end_s"])
    cubic, search = flows(trial)
    assert (cubic.sender, search.sender) == ("cubic", "search")
    for found, meta in ((cubic, first), (search, rival)):
        assert found.rate_mbps(found.seconds) == pytest.approx(meta["throughput_mbps"], rel=0.03)
