# SPDX-License-Identifier: GPL-2.0-or-later
"""The course on real kernels: exact grades; modules that hang, flood or cheat cost points, not the grader."""

from pathlib import Path

import jupytext
import numpy as np
import pytest
from lab_course import make, rehearse
from lab_course.assignment import COURSE, HIDDEN_PART, PUBLIC, Assignment, find_assignment, sibling
from lab_course.bench import Bench
from lab_course.grade import Row, marked
from lab_course.rehearse import KEY, SOLUTION, Case, solutions
from lab_course.submission import Submission
from lab_course.work import Work
from lab_papers.search_replay import EXIT, STAY, SearchParams, replay_bins
from nbclient import NotebookClient

from lab.backends.virtual import Virtual
from lab.base.paths import REPO
from lab.images.image import Image
from lab.kernel.build import Kernel

HEADER = "#include <linux/module.h>"
SAMPLE = "static void hspp_sample(struct hspp *ca, u32 rtt_us)\n{\n"
OPENS = (
    'struct file *file = filp_open("/trial/{}", {}, 0600);\n\tchar text[64] = "x";\n\tloff_t at = 0;\n\n'
    "\tif (!IS_ERR(file))\n"
)
BEYOND = {
    "reads the plan of the trial": (OPENS.format("plan.json", "O_RDONLY") + "\t\tkernel_read(file, text, 64, &at);\n"),
    "writes the result": (OPENS.format("node.json", "O_RDWR | O_CREAT") + "\t\tkernel_write(file, text, 64, &at);\n"),
    "looks a symbol up": 'void *found = __symbol_get("init_task");\n\n\tca->rtt_samples += !found;\n',
}
SYMBOLS = {"looks a symbol up": "__symbol_get"}  # the others: filp_open
HIDDEN_SYMBOLS = {
    "assembler": ('asm volatile("syscall");\n', "asm: must be left out"),
    "pasted tokens": ("\n#define JOIN(a, b) a##b\n", "##: must be left out"),
    "a section": ('static char code[] __attribute__((section(".text"))) = "x";\n', "section: must be left out"),
    "a header of the grader's": ('\n#include "/lab/answers.h"\n', 'include="/lab/answers.h": must be a header'),
}
HANGS = """	if (ca->last_round_min_rtt_us / 1000 == 60 && ca->rtt_samples > 60)
		for (;;)
			barrier();
"""
FLOODS = '\tpr_info("%s", "a line of a flood, and another one, and another one, and another one\\n");\n'
STAYS = "static bool hspp_leaves(const struct hspp *ca)\n{\n\treturn false;\n}\n"
AT_1000 = "static bool hspp_leaves(struct hspp *ca)\n{\n\treturn ++ca->css_rounds > 1000;\n}\n"


@pytest.fixture(scope="module")
def third() -> Assignment:
    return find_assignment("3")


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> Bench:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_RESULTS", str(tmp_path_factory.mktemp("course")))
        return Bench.on(Virtual(kernel, world))


def solution(third: Assignment, before_a_sample: str = "") -> str:
    text = (third.folder / "teacher" / "solution" / "hystartpp.c").read_text()
    assert text.count(SAMPLE) == 1
    return text.replace(SAMPLE, f"{SAMPLE}\t{before_a_sample}" if before_a_sample else SAMPLE)


def marks(third: Assignment, trials: Bench, source: str, *names: str) -> dict[str, Row]:
    """Grade a source by some checks alone."""
    submission = Submission(Path("in"), rehearse.STUDENT, {"hystartpp.c": source.encode()})
    found: dict[str, Row] = {}
    for part in (PUBLIC, HIDDEN_PART):
        checks, work = third.checks(part), Work(third, submission, trials, part, KEY)
        found |= {row.id: marked(row, checks[row.id], work) for row in third.rows(part) if row.id in names}
    return found


def points(found: dict[str, Row]) -> dict[str, float]:
    return {name: row.points for name, row in found.items()}


def test_the_solution_has_all_points(third: Assignment, trials: Bench) -> None:
    assert rehearse.rehearse(Case(third.folder, SOLUTION, trials)) == []


def test_a_mistake_gets_its_points_and_is_named(third: Assignment, trials: Bench) -> None:
    assert rehearse.rehearse(Case(third.folder, "threshold-without-limits", trials)) == []


@pytest.mark.parametrize("what", BEYOND)
def test_a_module_that_reaches_beyond_its_flow_has_no_points(third: Assignment, trials: Bench, what: str) -> None:
    source = solution(third, BEYOND[what]).replace(HEADER, f"{HEADER}\n#include <linux/fs.h>")
    found = marks(third, trials, source, "builds", "deep")
    assert points(found) == {"builds": 0, "deep": 0}
    symbol = SYMBOLS.get(what, "filp_open")
    line = f"hystartpp.c: symbol={symbol}: must be a symbol that a congestion control needs"
    assert found["builds"].marks.reason.startswith(line)


@pytest.mark.parametrize("what", HIDDEN_SYMBOLS)
def test_what_could_hide_a_symbol_is_refused_in_the_source(third: Assignment, trials: Bench, what: str) -> None:
    code, line = HIDDEN_SYMBOLS[what]
    row = marks(third, trials, solution(third, code), "builds")["builds"]
    assert row.points == 0
    assert line in row.marks.reason


def test_c_that_does_not_compile_costs_its_points_with_the_compilers_line(third: Assignment, trials: Bench) -> None:
    found = marks(third, trials, solution(third, "nowhere(1);\n"), "builds", "short")
    assert points(found) == {"builds": 0, "short": 0}
    reason = found["builds"].marks.reason
    assert reason.startswith("hystartpp.c:")
    assert "error: implicit declaration of function 'nowhere'" in reason
    assert not any(row.broken for row in found.values())


def test_a_module_that_hangs_in_a_trial_costs_a_check_and_its_line_is_named(third: Assignment, trials: Bench) -> None:
    found = marks(third, trials, solution(third, HANGS), "builds", "deep", "short")
    assert points(found) == {"builds": 5, "deep": 0, "short": 8}
    reason = found["deep"].marks.reason
    assert reason.startswith("hystartpp.c:")
    assert "a trial: a hook does not return, in hspp_" in reason


def test_a_flood_of_messages_costs_nothing_but_the_log(third: Assignment, trials: Bench) -> None:
    assert points(marks(third, trials, solution(third, FLOODS), "builds", "short")) == {"builds": 5, "short": 8}


def test_an_exit_that_was_read_off_a_fellows_page_has_no_points(third: Assignment, trials: Bench) -> None:
    start = (third.folder / "start" / "hystartpp.c").read_text()
    assert start.count(STAYS) == 1
    found = marks(third, trials, start.replace(STAYS, AT_1000), "deep", "deep_other_seed")
    assert points(found) == {"deep": 0, "deep_other_seed": 0}


def test_a_grade_is_the_same_without_bubblewrap(
    third: Assignment, trials: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The module is built by now: a container that builds it, too, is another test's."""
    first = marks(third, trials, solution(third), "short")["short"]
    monkeypatch.setenv("LAB_SANDBOX", "none")
    again = Bench(trials.virtual, tmp_path)
    assert marks(third, again, solution(third), "short")["short"].marks == first.marks
    assert len(list((tmp_path / "trials").iterdir())) == 1


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


@pytest.mark.parametrize(("number", "case"), CASES)
def test_a_submission_gets_the_points_and_feedback_that_its_case_states(trials: Bench, number: str, case: str) -> None:
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
