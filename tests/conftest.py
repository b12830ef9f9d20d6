# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests share: the built kernel, the world image, and one small real experiment.

LAB_TEST_KERNEL=6.1 or =sanitize runs them on that kernel instead of the default one.
"""

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import settings

from lab.__main__ import main
from lab.backends import guest_code
from lab.backends.virtual import Virtual
from lab.base.paths import LAB, REPO
from lab.images import image
from lab.images.image import Image
from lab.kernel import build
from lab.kernel.build import Kernel
from lab.kernel.recipe import Recipe
from lab.kernel.versions import DEFAULT
from lab.links.profile import Profile
from lab.runs.experiment import Experiment
from lab.runs.trial import Job, run_trial
from lab.schema.cca import load_ccas
from lab.schema.scenario import Scenario
from lab.schema.topology import load_topology
from lab.tables.stored_trial import Trial
from tests.brief import folder_at
from tests.examples import examples
from tests.processors import share_out

pytest_plugins = ["bench.strict_skips"]

TRIED = examples(settings.get_profile("default").max_examples)
settings.register_profile("unhurried", deadline=None, max_examples=TRIED)  # a busy machine is no failure
settings.register_profile(
    "ci", settings.get_profile("unhurried"), derandomize=True, database=None
)  # a push fails for its own change only
settings.load_profile("ci" if os.environ.get("CI") else "unhurried")

os.environ.setdefault("LAB_BACKEND", "virtual")  # or a VM that is up would be given what a test runs
share_out()


def pytest_collection_finish() -> None:
    """Spare the collector of garbage what all tests have loaded, and let it run rarely."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


IN_GUEST = {"/vm": REPO / "packages/vm"}  # what a guest reads for a trial in real time
SMALL = Profile.model_validate(
    {
        "title": "a small path for tests",
        "down": {"rate_mbps": 20.0, "delay_ms": 50.0, "buffer_bytes": 500_000},
        "up": {"delay_ms": 50.0},
        "recorded": [],
        "assumed": ["everything"],
    }
)
LOSSY = SMALL.model_copy(update={"down": SMALL.down.model_copy(update={"loss_pct": 0.5})})


def experiment_on(
    profile: Profile, *ccas: str, duration_s: int = 4, trials: int = 1, seed: int = 1, **fields: Any
) -> Experiment:
    """Build an experiment over a profile of the test's own."""
    scenario = Scenario(
        question="What does a test see?",
        topology="path",
        profile="test",
        ccas=list(ccas),
        trials=trials,
        duration_s=duration_s,
        seed=seed,
        **fields,
    )
    known = load_ccas()
    return Experiment("test", scenario, profile, load_topology("path", "test"), {cca: known[cca] for cca in ccas})


def with_lines(experiment: Experiment, *lines: str) -> Experiment:
    """Return the experiment with more lines of its client."""
    whole = experiment.topology.topology
    client = whole.nodes["client"]
    nodes = whole.nodes | {"client": client.model_copy(update={"exec": [*client.exec, *lines]})}
    topology = experiment.topology.model_copy(update={"topology": whole.model_copy(update={"nodes": nodes})})
    return replace(experiment, topology=topology)


def recipe_under_test() -> Recipe:
    """Which kernel the tests run on."""
    requested = os.environ.get("LAB_TEST_KERNEL") or DEFAULT
    return Recipe(sanitize=True) if requested == "sanitize" else Recipe(requested)


class Bench:
    """Runs real trials in a folder of the test session."""

    def __init__(self, folder: Path, kernel: Kernel, world: Image) -> None:
        self.folder, self.kernel, self.world = folder, kernel, world
        self.backend = Virtual(kernel, world)

    def job(self, experiment: Experiment, cca: str, name: str, number: int = 1) -> Job:
        return Job(experiment, cca, number, self.folder / name / f"{cca}-{number:03d}", self.backend)

    def run(self, experiment: Experiment, cca: str, name: str, number: int = 1) -> Trial:
        job = self.job(experiment, cca, name, number)
        if not (job.folder / "trial.json").exists():
            run_trial(job)
        return Trial(job.folder)


@pytest.fixture
def refusal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run the command here, and return the one line that it printed as its error."""

    def run(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["lab", *words])
        with pytest.raises(SystemExit) as end:
            main()
        reported = capsys.readouterr().err
        assert (end.value.code, reported.count("\n")) == (2, 1), reported
        return reported.strip()

    return run


def windows_of_rounds(trial: Trial) -> list[int]:
    """The window at the end of each round, before the exit."""
    acks = trial.acks.filter((pl.col("flow") == 1) & (pl.col("t_s") < trial.exits["t_s"][0]))
    ends, window_end = [], acks["snd_nxt_bytes"][0]
    for una, nxt, cwnd in acks.select("snd_una_bytes", "snd_nxt_bytes", "cwnd_pkts").iter_rows():
        if una >= window_end:
            ends.append(cwnd)
            window_end = nxt
    return ends


@pytest.fixture(scope="session")
def kernel(world: Image) -> Kernel:
    guest_code.ensure(world.root)
    return build.ensure(recipe_under_test())


@pytest.fixture(scope="session")
def world() -> Image:
    return image.ensure("world")


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """SEARCH's core for user space, built without a kernel."""
    out = tmp_path_factory.mktemp("library")
    subprocess.run(["make", "-s", "-C", LAB / "kernel/search", f"OUT={out}"], check=True)
    return out / "libsearch_replay.so"


@pytest.fixture(scope="session")
def cores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The start-up family's cores for user space, built without a kernel."""
    out = tmp_path_factory.mktemp("startup")
    subprocess.run(["make", "-s", "-C", LAB / "kernel/startup", f"OUT={out}"], check=True)
    return out / "libstartup.so"


@pytest.fixture(scope="session")
def search_library(kernel: Kernel) -> Path:
    return kernel.replay_library


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> Bench:
    return Bench(tmp_path_factory.mktemp("trials"), kernel, world)


@pytest.fixture(scope="session")
def small_trial(bench: Bench) -> Trial:
    """One short CUBIC download over the small path."""
    return bench.run(experiment_on(SMALL, "cubic_plain"), "cubic_plain", "small")


@pytest.fixture
def figures_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's for figures."""
    added = folder_at(tmp_path / "figures")
    monkeypatch.setenv("LAB_FIGURES", str(added))
    return added
