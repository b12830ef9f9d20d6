# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab run --profile X --cca a,b`: an experiment without a scenario file, or one line that names the mistake."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lab_papers.campaign import campaign, load_campaign

from lab.__main__ import main
from lab.base.paths import REPO
from lab.runs.experiment import load_experiment, specification
from lab.runs.try_link import try_link
from lab.schema.scenario import load_scenario, scenarios
from tests.command import scenario_file


@pytest.fixture
def refusal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """Run a command line here, and return the one line that it printed as its error."""

    def run(words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["lab", *words.split()])
        with pytest.raises(SystemExit) as end:
            main()
        errors = capsys.readouterr().err
        assert (end.value.code, errors.count("\n")) == (2, 1), errors
        return errors.strip()

    return run


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("", "must name a scenario (see 'lab list'), or --profile"),
        ("--profile no-such --cca cubic", "profile=no-such: must be a known profile of trace-profiles/: "),
        (
            "--profile geo-viasat --cca cubic,no-such",
            "cca=no-such: must be a known sender of lab/cca.yml or a package: ",
        ),
        (
            "--profile geo-viasat --cca cubic,cubic",
            "ccas=['cubic', 'cubic']: must be a list that names each sender once",
        ),
        ("--profile geo-viasat --cca ,", "cca=: must be a known sender of lab/cca.yml or a package: "),
        ("geo --profile geo-viasat --cca cubic", "profile=geo-viasat: must be left out with a scenario (geo)"),
        ("geo --cca cubic", "cca=cubic: must be used with --profile, not with a scenario"),
        ("geo --topology path", "topology=path: must be used with --profile, not with a scenario"),
        ("--profile geo-viasat --cca cubic --topology ring", "topology=ring: must be a known topology: "),
        ("--profile geo-viasat --cca cubic --trials 0", "trials=0: must be greater than or equal to 1"),
    ],
)
def test_a_mistake_is_one_line(refusal: Callable[[str], str], words: str, line: str) -> None:
    assert refusal(f"run {words}").startswith(f"command line: {line}")


def test_make_passes_a_link_on() -> None:
    command = ["make", "-n", "experiment", "PROFILE=geo-viasat", "CCA=search,cubic", "TRIALS=2"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=True)
    assert "scripts/lab run --profile geo-viasat --cca search,cubic --trials 2" in done.stdout


def test_a_tried_link_is_the_same_trial_as_that_of_a_scenario(tmp_path: Path) -> None:
    tried = try_link("geo-viasat", ["cubic_plain"], {"trials": 2, "duration_s": 3, "seed": 7})
    loaded = load_experiment(str(scenario_file(tmp_path, question=tried.scenario.question)))
    assert tried.name == "try-geo-viasat"
    assert specification(tried)["digests"] == specification(loaded)["digests"]


def test_the_campaign_is_every_scenario_that_states_it() -> None:
    assert campaign() == [name for name in scenarios() if load_scenario(name)[1].campaign]
    assert "geo" not in campaign()
    assert "thesis-geo" in campaign()


def test_a_scenario_joins_no_campaign_unless_it_states_it(tmp_path: Path) -> None:
    assert not load_scenario(str(scenario_file(tmp_path)))[1].campaign
    assert load_scenario(str(scenario_file(tmp_path, campaign=True)))[1].campaign


def test_the_campaign_changes_no_digest(tmp_path: Path) -> None:
    with_it, without = (
        specification(load_experiment(str(scenario_file(tmp_path, campaign=campaign))))["digests"]
        for campaign in (True, False)
    )
    assert with_it == without


def test_a_counterfactual_joins_the_campaign_of_its_base() -> None:
    assert load_scenario("poster-geo-36mb")[1].campaign


@pytest.mark.parametrize(("trials", "quick"), [(200, 20), (101, 11), (77, 10), (20, 10), (10, 10), (3, 3)])
def test_quick_takes_a_tenth_of_the_trials_and_as_many_as_a_claim_needs(
    tmp_path: Path, trials: int, quick: int
) -> None:
    ((one,), errors) = load_campaign([str(scenario_file(tmp_path, trials=trials))], quick=True)
    assert (one.scenario.trials, errors) == (quick, [])
