# SPDX-License-Identifier: GPL-2.0-or-later
"""A module whose state is larger than a socket's 104 bytes runs on the kernel with large sockets, and only there."""

import json
from pathlib import Path

import pytest
from lab_bundle.content import folders

from lab.backends.virtual import find_built
from lab.kernel.recipe import Recipe
from lab.kernel.versions import LARGE_SOCKETS
from lab.runs.trial import Job, run_trial
from lab.tables.stored_trial import Trial
from tests.command import lab, refused
from tests.conftest import SMALL, Bench, experiment_on
from tests.own_modules import source, start

LARGE = source(
    "mine",
    "struct state {\n\tchar bytes[700];\n};\n"
    + start(
        "struct state *s = inet_csk_ca(sk);\n\n\tBUILD_BUG_ON(sizeof(*s) > ICSK_CA_PRIV_SIZE);\n\ts->bytes[699] = 1;"
    ),
    init="hook",
)
SHORT = ("--links", "wired", "--against", "cubic", "--trials", "1", "--duration", "2", "--jobs", "1")


@pytest.fixture
def module(tmp_path: Path) -> Path:
    file = tmp_path / "mine.c"
    file.write_text(LARGE)
    return file


@pytest.mark.usefixtures("kernel")
def test_a_large_state_is_refused_on_the_default_kernel(tmp_path: Path, module: Path) -> None:
    line = refused(lab(tmp_path / "results", "try", str(module), *SHORT))
    assert "mine.c:" in line
    assert "BUILD_BUG_ON failed" in line


@pytest.mark.skipif(
    find_built(Recipe(LARGE_SOCKETS)) is None,
    reason="kernel large-sockets is not built: lab kernel build --kernel large-sockets",
)
class TestOnTheKernelWithLargeSockets:
    """What needs the second kernel."""

    def test_a_large_state_runs_there_beside_a_rival_on_the_default_kernel(self, tmp_path: Path, module: Path) -> None:
        options = ("--kernel", LARGE_SOCKETS, "--first-window", "8192")
        done = lab(tmp_path / "results", "try", str(module), *SHORT, *options)
        assert done.returncode == 0, done.stderr
        trials = next((tmp_path / "results/compare-wired").glob("[0-9]*")) / "trials"
        own, rival = Trial(trials / "mine-001").meta, Trial(trials / "cubic-001").meta
        assert "-large-sockets" in own["kernel"]
        assert "-large-sockets" not in rival["kernel"]
        assert own["certificate"]["valid"]
        plan = json.loads((trials / "mine-001/plan.json").read_text())
        assert plan["sysctls"]["route"]["initrwnd"] == "8192"

    def test_cubic_sends_the_same_packets_there(self, tmp_path: Path, bench: Bench) -> None:
        other = find_built(Recipe(LARGE_SOCKETS))
        assert other
        experiment = experiment_on(SMALL, "cubic", duration_s=2)
        for place, backend in (("default", bench.backend), ("other", other)):
            run_trial(Job(experiment, "cubic", 1, tmp_path / place / "cubic-001", backend))
        default, there = (Trial(tmp_path / place / "cubic-001") for place in ("default", "other"))
        assert "-large-sockets" not in default.meta["kernel"]
        random = ("tsval", "tsecr")  # TCP's timestamps begin at a number that the kernel draws
        assert default.packets.drop(random).equals(there.packets.drop(random))
        assert default.packets.height > 1000
        assert default.acks.equals(there.acks)

    def test_no_bundle_holds_it(self) -> None:
        other = find_built(Recipe(LARGE_SOCKETS))
        assert other
        held = {folder.path for folder in folders(recordings=False)}
        assert held
        assert not held & {*other.kernel.folders}
