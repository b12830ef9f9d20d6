# SPDX-License-Identifier: GPL-2.0-or-later
"""Assignments 1, 2, 4 and 5 on real kernels: solutions, and some mistakes (`make test-course`: all of them)."""

from pathlib import Path

import jupytext
import numpy as np
import pytest
from lab_course import make, rehearse
from lab_course.assignment import COURSE, find_assignment, sibling
from lab_course.bench import Bench
from lab_course.rehearse import Case, solutions
from lab_course.solved import SOLUTION
from lab_papers.search_replay import EXIT, STAY, SearchParams, replay_bins
from nbclient import NotebookClient

from lab.backends.virtual import Virtual
from lab.base.paths import REPO
from lab.images.image import Image
from lab.kernel.build import Kernel

CASES = [
    *((number, SOLUTION) for number in "1245"),
    ("1", "capacity-at-the-first-loss"),
    ("2", "both-predict-the-same"),
    ("4", "interpolation-forward"),
    ("4", "endless-loop"),
    ("5", "only-a-shallow-buffer"),
]
FOURTH = find_assignment("4")
algorithm, vectors = (sibling(str(FOURTH.folder / "checks.py"), name) for name in ("algorithm", "vectors"))


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> Bench:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_RESULTS", str(tmp_path_factory.mktemp("course")))
        return Bench.on(Virtual(kernel, world))


@pytest.mark.parametrize(("number", "case"), CASES)
def test_a_submission_gets_the_points_and_the_feedback_that_its_teacher_states(
    trials: Bench, number: str, case: str
) -> None:
    assert rehearse.rehearse(Case(find_assignment(number).folder, case, trials)) == []


@pytest.mark.parametrize("number", "126")
def test_another_student_gets_all_points_for_the_answers_of_their_own_draws(trials: Bench, number: str) -> None:
    """The answers of these assignments follow from the student's ID; `lab course check --students 10` takes ten."""
    (other,) = solutions(find_assignment(number), trials, 1)
    assert rehearse.rehearse(other) == []


@pytest.mark.parametrize("seed", range(10))
def test_the_grader_reads_algorithm_1_as_the_labs_own_core_does(search_library: Path, seed: int) -> None:
    for vector in vectors.vectors(seed):
        t_us, rtt_us, delivered = (np.array(column, dtype=np.uint64) for column in zip(*vector.acks, strict=True))
        bins = replay_bins(search_library, t_us, rtt_us, delivered, SearchParams(), stop_at_exit=False)
        sums = [(each["bin"], each["bin_us"], each["curr_delv_bytes"], each["prev_delv_bytes"]) for each in bins]
        verdicts = [(each["verdict"] in (STAY, EXIT), each["verdict"] == EXIT) for each in bins]
        rows = list(algorithm.run(vector.acks))
        assert [(row.bin, row.bin_us, row.curr, row.prev) for row in rows] == sums
        assert [(row.compared, row.exit) for row in rows] == verdicts


@pytest.mark.usefixtures("kernel")
def test_the_notebook_of_a_students_folder_runs_from_top_to_bottom_and_shows_a_figure_of_each_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = find_assignment("1")
    (folder,) = make.make(tmp_path / "fall", [first], ["s1"])
    (file,) = (folder / first.folder.name).glob("notebook.ipynb")
    notebook = jupytext.read(file)
    monkeypatch.setenv("PYTHONPATH", f"{REPO}:{COURSE}")
    NotebookClient(
        notebook, kernel_name="python3", timeout=None, resources={"metadata": {"path": str(file.parent)}}
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert [each["data"]["image/png"][:4] for each in outputs if "image/png" in each.get("data", {})] == [
        "iVBO",
        "iVBO",
    ]
    printed = "".join(each["text"] for each in outputs if each["output_type"] == "stream" and each["name"] == "stdout")
    assert "geo at capacity by the true queue: " in printed
    assert sorted(each.name for each in (file.parent / "results").iterdir()) == ["try-geo", "try-wired"]
