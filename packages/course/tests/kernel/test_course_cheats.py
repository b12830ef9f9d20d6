# SPDX-License-Identifier: GPL-2.0-or-later
"""Ways to points that are no work: a table of the given answers, a rule that is wrong by itself, files beside it."""

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from lab_course.assignment import find_assignment, sibling
from lab_course.bench import Bench
from lab_course.grade import grade
from lab_course.leaderboard import REFERENCE, Entry, hidden_links, run_reference
from lab_course.rehearse import KEY, SOLUTION, Case, rehearse, submission
from lab_course.submission import Submission

from lab.backends.virtual import Virtual
from lab.base.paths import REPO
from lab.images.image import Image
from lab.kernel.build import Kernel
from tests.brief import folder_at, put

FOURTH, FIFTH, SIXTH = (find_assignment(number) for number in "456")
algorithm, vectors = (sibling(str(FOURTH.folder / "checks.py"), name) for name in ("algorithm", "vectors"))
TABLE = """
static u32 at, asked;
static const struct given *row = given;
static u32 paper_bin_us(u32 rtt_us) { return max(rtt_us * 35 / 100, 1U); }
static void paper_close_bins(struct paper_bins *bins, u64 passed, u64 bytes) { bins->newest += passed; }
static bool paper_can_compare(const struct paper_bins *bins, u32 rtt_us, u32 bin_us)
{ asked = 0; row = &given[min_t(u32, at++, ARRAY_SIZE(given) - 1)]; return row->compared; }
static u64 paper_window_bytes(struct paper_bins *bins, u32 back, u32 rest_us, u32 bin_us)
{ return asked++ ? row->prev : row->curr; }
static bool paper_exit(u64 curr_bytes, u64 prev_bytes) { return row->left; }
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> Bench:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_RESULTS", str(tmp_path_factory.mktemp("course")))
        return Bench.on(Virtual(kernel, world))


def test_a_table_of_the_given_vectors_rows_has_no_points_for_windows_that_it_does_not_compute(bench: Bench) -> None:
    rows = [row for vector in vectors.vectors(vectors.PUBLIC_SEED) for row in algorithm.run(vector.acks)]
    given = "".join(f"{{ {row.compared:d}, {row.curr}ULL, {row.prev}ULL, {row.exit:d} }},\n" for row in rows)
    declared = "static const struct given { u8 compared; u64 curr, prev; u8 left; } given[] = {\n"
    header = f'#include "paper.h"\n{declared}{given}}};{TABLE}'
    handed_in = Submission(Path("in"), "mistake", {"search_paper.h": header.encode()})
    graded = grade(FOURTH, handed_in, bench, KEY)
    found = {row.check.id: row for row in graded.rows}
    assert (found["windows"].points, found["kernel"].points) == (0, 0)
    assert found["bins"].marks.reason.startswith("No points: it passes here, and has none in the hidden check")
    assert graded.points <= 5
    assert {row.check.id: row.points for row in grade(FOURTH, handed_in, bench).rows}["windows"] == 25


@pytest.mark.parametrize(("leaves", "points"), [("ca->slow_rounds == 2", 100), ("true", 20), ("false", 20)])
def test_a_fellows_rule_counts_as_broken_only_if_right_on_an_easy_link(bench: Bench, leaves: str, points: int) -> None:
    rule = (SIXTH.folder / "teacher" / SOLUTION / "rule.c").read_text().replace("ca->slow_rounds == 2", leaves)
    solution = submission(FIFTH, SOLUTION)
    handed_in = replace(solution, files={**solution.files, "rule.c": rule.encode()})
    found = grade(FIFTH, handed_in, bench, KEY)
    assert found.points == points
    says = {row.check.id: row.marks.reason for row in found.rows}["wrong"]
    assert says.startswith("rule.c: must be right on an easy link" if points == 20 else "The link is at capacity")


DOWN = "{rate_mbps: 50, delay_ms: 30, buffer_bdps: 2.5}"
OWN_LINK = f"title: mine\ndown: {DOWN}\nup: {{delay_ms: UP}}\nrecorded: []\nassumed: [x]\n"
GROWS = "{model: schedule, steps: [{from_s: 0, value: 30}, {from_s: 0.001, value: 80}], source: mine}"


@pytest.mark.parametrize(
    ("trapdoor", "up"),
    [
        ("ca->base_rtt_us < 36000 || ca->base_rtt_us > 47000", "30"),
        ("ca->base_rtt_us > 55000 && ca->base_rtt_us < 66000", "30"),
        ("ca->base_rtt_us > 66000", GROWS),
    ],
)
def test_a_rule_that_is_wrong_where_it_recognises_the_students_link_has_only_the_points_of_the_link(
    bench: Bench, trapdoor: str, up: str
) -> None:
    """It is right on the given easy link, and leaves at once on the student's own one."""
    rule = (SIXTH.folder / "teacher" / SOLUTION / "rule.c").read_text()
    rule = rule.replace("return ca->slow_rounds == 2", f"return ca->slow_rounds == 2 || ({trapdoor})")
    answers = "direction: early\nmechanism: shallow_buffer\n"
    files = {"rule.c": rule, "break.yml": OWN_LINK.replace("UP", up), "answers.yml": answers}
    handed_in = Submission(Path("in"), "mistake", {name: text.encode() for name, text in files.items()})
    found = grade(FIFTH, handed_in, bench, KEY)
    assert found.points == 20
    assert "on your link, constant and with a deep buffer" in found.rows[1].marks.reason


@pytest.mark.parametrize(
    "case", sorted(file.name for file in (SIXTH.folder / "teacher/mistakes").glob("cheat-*window*"))
)
def test_a_window_that_is_chosen_without_a_look_at_acks_has_only_points_of_its_build(bench: Bench, case: str) -> None:
    assert rehearse(Case(SIXTH.folder, case, bench)) == []


def test_the_reference_of_a_leaderboard_needs_no_submission_that_can_be_read(tmp_path: Path, bench: Bench) -> None:
    (tmp_path / "broken.zip").write_bytes(b"PK broken")
    found = run_reference(Entry(tmp_path / "broken.zip", SIXTH.folder, bench, KEY, 1, 2))
    assert (found.name, found.fault, list(found.object_s)) == (REFERENCE, "", hidden_links(SIXTH))


@pytest.mark.parametrize("command", [["scripts/lab"], [".venv/bin/python", "ENTRY"]])
def test_python_files_beside_a_submission_are_not_run_where_it_is_graded(tmp_path: Path, command: list[str]) -> None:
    """The environment's own `lab` starts from bin/, without -P; its workers begin in the current folder."""
    entry = put(tmp_path / "entry.py", 'from lab.__main__ import command\nif __name__ == "__main__":\n    command()\n')
    folder = folder_at(tmp_path / "in" / "s1")
    for name in ("yaml", "typer", "pickle", "multiprocessing", "struct"):
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write('{name} ')\n")
    argv = [str(entry) if word == "ENTRY" else str(REPO / word) for word in command]
    environment = os.environ | {"PYTHONPATH": str(REPO), "LAB_RESULTS": str(tmp_path / "results")}
    two = [*argv, "grade", "4", ".", "."]  # two: by workers
    done = subprocess.run(two, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()
    assert done.stdout.count("s1: s1: 0 of 70 points") == 2, done.stdout + done.stderr


def test_an_assignment_in_a_submission_takes_no_assignments_name(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    shutil.copytree(FOURTH.folder, folder / "4")
    with (folder / "4" / "checks.py").open("a") as checks:
        checks.write(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    argv = [str(REPO / "scripts/lab"), "grade", "4", "."]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr.startswith("command line: assignment=4: must be ./4, or ")
    assert not (tmp_path / "ran").exists()
