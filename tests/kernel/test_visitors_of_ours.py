# SPDX-License-Identifier: GPL-2.0-or-later
"""A visitor of the tests' own goes wherever a sender goes; one with a large state runs on the kernel for visitors."""

import json
from pathlib import Path

import pytest
import yaml
from rich.console import Console

from lab.backends.virtual import find_built
from lab.bundle.content import folders
from lab.commands.visitors import visiting
from lab.kernel.recipe import VISITORS, Recipe
from lab.runs.trial import Job, run_trial
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from tests.command import lab, refused
from tests.conftest import SMALL, Bench, experiment_on
from tests.own_modules import source, start
from tests.recordings import sha256
from tests.visitors import written

UNUSED = "static int unused_by_anyone;\n"  # the compiler warns of it
LARGE = source(
    "mine",
    "struct state {\n\tchar bytes[700];\n};\n"
    + start(
        "struct state *s = inet_csk_ca(sk);\n\n\tBUILD_BUG_ON(sizeof(*s) > ICSK_CA_PRIV_SIZE);\n\ts->bytes[699] = 1;"
    ),
    init="hook",
)
SHORT = ("--trials", "1", "--duration", "2", "--jobs", "1")


def fetched(folder: Path, monkeypatch: pytest.MonkeyPatch, content: str, **changes: object) -> None:
    """Let a source be the visitor `mine`, and fetch it."""
    code = content.encode()
    files = {"mine.c": {"path": "mine.c", "bytes": len(code), "sha256": sha256(code)}}
    written(folder / "visitors", "mine", files=files, edits=None, **changes)
    (folder / "mine.c").write_bytes(code)
    monkeypatch.setenv("LAB_VISITORS", str(folder / "visitors"))
    done = lab(folder / "results", "senders", "fetch", "mine", "--mirror", str(folder))
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("kernel")
def test_a_link_without_a_scenario_takes_a_visitor_and_its_warnings_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched(tmp_path, monkeypatch, source("mine", UNUSED))
    done = lab(tmp_path / "results", "run", "--profile", "wired-clean", "--cca", "mine", *SHORT, "--backend", "virtual")
    assert done.returncode == 0, done.stderr
    assert "warning: 'unused_by_anyone' defined but not used" in done.stdout
    (stanza,) = Run(tmp_path / "results/try-wired-clean/latest").meta["ccas"]
    assert (stanza["name"], stanza["label"], stanza["kernel"]) == ("mine", "Mine", None)
    assert stanza["module_digest"]


@pytest.mark.usefixtures("kernel")
def test_a_scenario_takes_a_visitor_as_sender_and_as_rival(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched(tmp_path, monkeypatch, source("mine"))
    scenario = tmp_path / "pair.yml"
    fields = {"question": "Who?", "topology": "dumbbell", "profile": "wired-clean", "seed": 1, "trials": 1}
    scenario.write_text(yaml.safe_dump({**fields, "duration_s": 2, "ccas": ["mine"], "rival": "mine"}))
    done = lab(tmp_path / "results", "run", str(scenario), "--jobs", "1", "--backend", "virtual")
    assert done.returncode == 0, done.stderr
    trial = json.loads((tmp_path / "results/pair/latest/trials/mine-001/trial.json").read_text())
    assert [flow["cca"] for flow in trial["flows"]] == ["mine", "mine"]


@pytest.mark.usefixtures("kernel")
def test_a_module_of_ones_own_is_compared_with_a_visitor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched(tmp_path, monkeypatch, source("mine"))
    own = tmp_path / "own.c"
    own.write_text(source())
    done = lab(tmp_path / "results", "try", str(own), "--links", "wired", "--against", "mine", *SHORT)
    assert done.returncode == 0, done.stderr
    (run,) = (tmp_path / "results/compare-wired").glob("[0-9]*")
    assert [stanza["name"] for stanza in Run(run).meta["ccas"]] == ["own", "mine"]


@pytest.mark.usefixtures("kernel")
def test_a_large_state_is_refused_on_the_default_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched(tmp_path, monkeypatch, LARGE)
    line = refused(lab(tmp_path / "results", "compare", "--cca", "cubic,mine", "--links", "wired", *SHORT))
    assert "mine.c:" in line
    assert "BUILD_BUG_ON failed" in line


@pytest.mark.skipif(
    find_built(Recipe(VISITORS)) is None, reason="kernel visitors is not built: lab kernel build --kernel visitors"
)
class TestOnTheKernelForVisitors:
    """What needs the second kernel."""

    def test_a_large_state_runs_there_and_the_trial_states_its_kernel(
        self, tmp_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fetched(tmp_path, monkeypatch, LARGE, kernel=VISITORS)
        senders, backend = visiting(["mine"]).built(bench.backend, Console(quiet=True))
        experiment = experiment_on(SMALL, "cubic", duration_s=2)
        experiment.ccas["mine"] = senders["mine"]
        run_trial(Job(experiment, "mine", 1, tmp_path / "trials/mine-001", backend))
        digest = backend.kernels[senders["mine"].kernel or ""].described["kernel_digest"]
        assert senders["mine"].kernel == digest != bench.kernel.described["kernel_digest"]
        assert json.loads((tmp_path / "trials/mine-001/plan.json").read_text())["kernel"] == digest
        meta = Trial(tmp_path / "trials/mine-001").meta
        assert "-visitors" in meta["kernel"]
        assert meta["certificate"]["valid"]

    def test_cubic_sends_the_same_packets_there(self, tmp_path: Path, bench: Bench) -> None:
        other = find_built(Recipe(VISITORS))
        assert other
        experiment = experiment_on(SMALL, "cubic", duration_s=2)
        for place, backend in (("default", bench.backend), ("other", other)):
            run_trial(Job(experiment, "cubic", 1, tmp_path / place / "cubic-001", backend))
        default, there = (Trial(tmp_path / place / "cubic-001") for place in ("default", "other"))
        assert "-visitors" not in default.meta["kernel"]
        random = ("tsval", "tsecr")  # TCP's timestamps begin at a number that the kernel draws
        assert default.packets.drop(random).equals(there.packets.drop(random))
        assert default.packets.height > 1000
        assert default.acks.equals(there.acks)

    def test_no_bundle_holds_it(self) -> None:
        other = find_built(Recipe(VISITORS))
        assert other
        held = {folder.path for folder in folders(recordings=False)}
        assert held
        assert not held & {*other.kernel.folders}
