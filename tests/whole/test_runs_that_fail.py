# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs whose trials fail, since the kernel they name is not there: what is stored of them, and what continues them."""

import json
import shutil
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
import typer
from rich.console import Console

from lab.backends.backend import Site
from lab.backends.virtual import Virtual
from lab.base.errors import UserError
from lab.commands.run import require_results
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.runs import find_run, run_folder
from lab.runs.execute import Executed, OpenRun, execute
from lab.runs.experiment import Experiment
from lab.runs.find_run import FindRun
from lab.runs.options import RunOptions
from lab.runs.pool import Result
from lab.runs.trial import Job
from lab.tables.run_json import RunJson
from lab.tables.stored_run import Run
from tests.brief import error_of
from tests.conftest import SMALL, experiment_on
from tests.stored_run import LINK, rewrite, store_run

DIGESTS = {"kernel_source": "Linux 6.12.48", "kernel_digest": "k", "modules_digest": "m"}
WORLD = {"iperf3": "3.18"}


class Watched:
    """An observer that keeps what it receives."""

    def __init__(self) -> None:
        self.begun: list[Job] = []
        self.results: dict[str, Result] = {}
        self.runs: list[OpenRun] = []

    def begin(self, jobs: list[Job]) -> None:
        self.begun = jobs

    def trial_ended(self, job: Job, result: Result) -> None:
        self.results[job.folder.name] = result

    def run_ended(self, run: OpenRun) -> None:
        self.runs.append(run)


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    return tmp_path / "results"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A machine whose kernel was removed since."""
    gone = tmp_path / "gone"
    return Virtual(Kernel(gone / "obj/linux", gone, gone, gone, DIGESTS), Image(gone, "w", WORLD, {})).site


def small(**fields: object) -> Experiment:
    return experiment_on(SMALL, "cubic", "cubic_plain", duration_s=1, trials=2, **fields)  # type: ignore[arg-type]


def run(experiment: Experiment, site: Site, find: FindRun = find_run.none) -> tuple[Executed, Watched]:
    watched = Watched()
    return execute([experiment], find, site, RunOptions(workers=1), watched, alone=True), watched


def test_trials_that_fail_are_reported_and_leave_a_run_to_resume(results: Path, site: Site) -> None:
    executed, watched = run(small(), site)
    (done,) = executed.runs
    names = ["cubic-001", "cubic_plain-001", "cubic-002", "cubic_plain-002"]
    assert [job.folder.name for job in watched.begun] == names
    assert all(isinstance(result, str) for result in watched.results.values())
    assert sorted(done.failures) == sorted(f"{name}: {watched.results[name]}" for name in names)
    assert watched.runs == [done]
    assert done.folder.parent == results / "test"
    assert not Run(done.folder).complete
    assert list((done.folder / "trials").iterdir()) == []
    assert find_run.unfinished(small(), site) == done.folder


@pytest.mark.parametrize(("trials", "stored"), [(0, "no trial is"), (1, "the others are")])
def test_trials_that_fail_are_printed_with_what_is_stored(results: Path, site: Site, trials: int, stored: str) -> None:
    (done,) = run(small(), site)[0].runs
    if trials:
        done.folder = store_run(results / "other", trials)
    console = Console(file=StringIO(), width=500)
    with pytest.raises(typer.Exit):
        require_results(done, console)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert lines[0].startswith("4 trials gave no result: ")
    assert lines[-1] == f"{stored} stored in {done.folder}: go on with --resume"


def test_a_run_that_is_continued_keeps_its_folder_and_adds_to_its_wall_time(results: Path, site: Site) -> None:
    (first,) = run(small(), site)[0].runs
    before_s = Run(first.folder).meta["wall_s"]
    (again,) = run(small(), site, find_run.unfinished)[0].runs
    assert again.folder == first.folder
    assert [path.name for path in (results / "test").iterdir() if path.name != "latest"] == [first.folder.name]
    after_s = Run(first.folder).meta["wall_s"]
    assert before_s == pytest.approx(first.wall_s)
    assert after_s == pytest.approx(before_s + again.wall_s)
    assert again.wall_s > 0


def test_a_run_of_which_some_trials_are_not_wanted_stays_unfinished(results: Path, site: Site) -> None:
    """`lab run --only` of one sender."""
    watched = Watched()
    of_one = lambda job: job.cca == "cubic" and job.number < 2  # noqa: E731
    executed = execute([small()], find_run.none, site, RunOptions(workers=1), watched, of_one)
    (done,) = executed.runs
    assert [job.folder.name for job in watched.begun] == ["cubic-001"]
    assert (done.left_out, done.ended, done.has_ended, len(done.failures)) == (3, 1, True, 1)
    done.failures.clear()
    assert not done.is_complete
    assert find_run.unfinished(small(), site) == done.folder
    assert results.exists()


@pytest.mark.usefixtures("results")
def test_no_other_command_continues_a_run_while_its_trials_run(site: Site) -> None:
    refusals = []

    class Other(Watched):
        def trial_ended(self, job: Job, result: Result) -> None:
            super().trial_ended(job, result)
            refusals.extend(run(small(), site, find_run.unfinished)[0].refusals)

    execute([small()], find_run.none, site, RunOptions(workers=1), Other())
    assert len(refusals) == 4
    assert all("is being run by another command" in str(refusal) for refusal in refusals)


@pytest.mark.usefixtures("results")
def test_what_a_run_depends_on_is_in_its_run_json(site: Site) -> None:
    meta = Run(run_folder.create(small(seed=7), site)).meta
    assert (meta["name"], meta["complete"]) == ("test", False)
    assert (meta["backend"], meta["engine"], meta["kernel"]) == ("virtual", "netns", DIGESTS)
    assert meta["world"] == {"digest": "w", "packages": WORLD, "drifted": {}}
    assert len(meta["seeds"]) == len(set(meta["seeds"])) == 2
    assert meta["lab_version"]
    assert meta["host"]["machine"]


def test_a_refused_experiment_stops_all_before_any_trial_or_itself_alone(results: Path, site: Site) -> None:
    huge = small()
    down = huge.profile.down.model_copy(update={"buffer_bytes": 10**12})
    refused = replace(huge, name="huge", profile=huge.profile.model_copy(update={"down": down}))
    assert "memory_mb=" in error_of(execute, [small(), refused], find_run.none, site, RunOptions(workers=1), Watched())
    assert not results.exists()  # no trial ran, and no run began
    executed = execute([refused, small()], find_run.none, site, RunOptions(workers=1), Watched(), alone=True)
    assert [each.experiment.name for each in executed.runs] == ["test"]
    (error,) = executed.refusals
    assert "memory_mb=" in str(error)
    assert not (results / "huge").exists()


def test_a_run_of_another_command_is_refused(site: Site, results: Path) -> None:
    (done,) = run(small(), site)[0].runs
    with run_folder.locked(done.folder):
        executed, watched = run(small(), site, find_run.unfinished)
    assert executed.runs == []
    assert str(executed.refusals[0]).startswith(f"{done.folder}: is being run by another command")
    assert watched.begun == []
    assert results.exists()


def test_a_copied_folder_in_place_of_the_link_to_the_latest_run_is_refused_before_any_trial(
    site: Site, results: Path
) -> None:
    """As `cp -rL` or a zip file has it: the run could not be closed, and the old one was shown as the latest."""
    latest = results / small().name / "latest"
    latest.mkdir(parents=True)
    executed, watched = run(small(), site)
    assert str(executed.refusals[0]) == f"{latest}: must be a link to a run, no folder: rename or remove it"
    assert (executed.runs, watched.begun, list(latest.parent.iterdir())) == ([], [], [latest])


@pytest.mark.usefixtures("results")
def test_closing_a_run_clears_its_drafts_and_only_a_complete_one_is_the_latest(site: Site) -> None:
    folder = run_folder.create(small(), site)
    (folder / "trials" / ".cubic-001.abc.draft").mkdir()
    (folder / "trials" / "cubic-001").mkdir()
    run_folder.close(folder, 2.0, complete=False)
    assert [path.name for path in (folder / "trials").iterdir()] == ["cubic-001"]
    assert not (folder.parent / "latest").exists()
    run_folder.close(folder, 3.0, complete=True)
    assert (folder.parent / "latest").readlink() == Path(folder.name)
    assert (Run(folder).complete, Run(folder).meta["wall_s"]) == (True, 5.0)
    run_folder.close(folder, 0.0, complete=True)
    assert Run(folder).meta["wall_s"] == 5.0


def test_a_run_whose_trials_are_all_stored_is_completed_at_once_and_took_no_time(results: Path, site: Site) -> None:
    whole = experiment_on(SMALL, "cubic", "cubic_plain", duration_s=round(LINK.duration_s), trials=2)
    folder = run_folder.create(whole, site)
    source = store_run(results.parent / "source", 2, senders=("cubic", "cubic_plain"))
    shutil.rmtree(folder / "trials")
    shutil.copytree(source / "trials", folder / "trials")
    meta = Run(folder).meta
    own = {"scenario": meta["name"], **{name: meta[name] for name in ("backend", "engine", "shaper")}}
    own |= {name: meta["scenario"][name] for name in ("profile", "duration_s")}
    for file in (folder / "trials").glob("*/trial.json"):
        stored_json = json.loads(file.read_text())
        rewrite(file, stored_json | own | {"seed": meta["seeds"][stored_json["trial"] - 1]})
    executed, watched = run(whole, site, find_run.unfinished)
    (done,) = executed.runs
    assert (done.folder, done.jobs, done.wall_s, watched.begun) == (folder, [], 0.0, [])
    assert Run(folder).complete
    assert "wall_s" not in Run(folder).meta
    assert (folder.parent / "latest").resolve() == folder


def stored(results: Path, site: Site, time: str, trials: int, **changes: object) -> Path:
    """Store a run of `small()` with so many trial.json, none of them whole."""
    folder = run_folder.create(small(), site)
    for number in range(trials):
        (folder / "trials" / f"cubic-{number:03d}").mkdir()
        (folder / "trials" / f"cubic-{number:03d}" / "trial.json").touch()
    run_folder._write(folder, edited(Run(folder).meta, changes))
    return folder.rename(results / "test" / time)


def edited(meta: RunJson, changes: dict[str, object]) -> RunJson:
    whole: RunJson = {**meta, **changes}  # type: ignore[typeddict-item]
    return whole


def test_the_last_unfinished_run_is_resumed_and_one_that_lost_a_trial_is_unfinished(results: Path, site: Site) -> None:
    with pytest.raises(UserError, match=f"^{results / 'test'}: no unfinished run to resume"):
        find_run.unfinished(small(), site)
    lost = stored(results, site, "2026-01-01T00-00-00Z", 0, complete=True)
    assert find_run.unfinished(small(), site) == lost
    last = stored(results, site, "2026-01-02T00-00-00Z", 0)
    assert find_run.unfinished(small(), site) == last


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"digests": {"profile": "other"}}, "profile=other: must be [0-9a-f]{16}, as it is now"),
        ({"kernel": DIGESTS | {"kernel_digest": "old"}}, "kernel=old: must be k: it began on Linux 6.12.48"),
        ({"backend": "host"}, "backend=virtual: must be host, as it began on"),
        ({"engine": "mininet"}, "engine=netns: must be mininet, as it began on"),
    ],
)
def test_a_run_begun_otherwise_is_not_resumed(results: Path, site: Site, change: dict[str, object], words: str) -> None:
    folder = stored(results, site, "2026-01-01T00-00-00Z", 0, **change)
    with pytest.raises(UserError, match=f"^{folder}: {words}"):
        find_run.unfinished(small(), site)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"seed": 7}, "scenario.seed=1: must be 7"),
        ({"workload": {"kind": "web", "pages": 2}}, "scenario.workload=absent: must be {'kind': 'web'"),
    ],
)
def test_a_run_of_another_request_is_refused_with_the_field_that_differs(
    results: Path, site: Site, changed: dict[str, object], words: str
) -> None:
    folder = stored(results, site, "2026-01-01T00-00-00Z", 0)
    assert error_of(find_run.unfinished, small(**changed), site).startswith(f"{folder}: {words}")


def test_the_matching_run_is_the_complete_then_that_of_most_trials_then_the_newest(results: Path, site: Site) -> None:
    assert find_run.matching(small(), site) is None
    stored(results, site, "2026-01-01T00-00-00Z", 1)
    newer = stored(results, site, "2026-01-02T00-00-00Z", 1)
    assert find_run.matching(small(), site) == newer
    most = stored(results, site, "2025-12-01T00-00-00Z", 2)
    assert find_run.matching(small(), site) == most
    complete = stored(results, site, "2025-11-01T00-00-00Z", 0, complete=True)
    assert find_run.matching(small(), site) == complete


@pytest.mark.parametrize("older", [{"lab_version": "0"}, {"kernel": DIGESTS | {"modules_digest": "old"}}])
def test_a_run_by_older_code_is_not_that_of_the_same_code(results: Path, site: Site, older: dict[str, object]) -> None:
    stored(results, site, "2026-01-01T00-00-00Z", 2, complete=True, **older)
    assert find_run.of_same_code(small(), site) is None
    same = stored(results, site, "2025-01-01T00-00-00Z", 0)
    assert find_run.of_same_code(small(), site) == same


@pytest.mark.parametrize("change", [{"digests": {}}, {"kernel": DIGESTS | {"kernel_digest": "old"}}])
def test_another_specification_or_kernel_does_not_match(results: Path, site: Site, change: dict[str, object]) -> None:
    stored(results, site, "2026-01-01T00-00-00Z", 2, complete=True, **change)
    assert find_run.matching(small(), site) is None
