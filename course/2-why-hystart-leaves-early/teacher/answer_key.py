# SPDX-License-Identifier: GPL-2.0-or-later
"""Print the solution's answers.yml of one student, whose ID is the argument (scripts/python answer_key.py ID)."""

import sys
from pathlib import Path

from lab.backends.virtual import ensure_built
from lab.course.assignment import load_assignment, sibling
from lab.course.bench import Bench
from lab.course.submission import open_submission
from lab.course.work import Work
from lab.kernel.recipe import Recipe

hypotheses = sibling(__file__, "hypotheses")
TEXT = {
    "mine": ("ack_rate", "later"),
    "rival": ("forward_queue", "later"),
}


def answers(work: Work) -> list[str]:
    """Return the lines of answers.yml."""
    lines = ["# SPDX-License-Identifier: GPL-2.0-or-later", "acks_per_s: 25"]
    for name, file in {"base": None, "mine": "mine.yml", "rival": "rival.yml"}.items():
        found = hypotheses.run(work, file, work.seed())
        assert found.exit
        lines += [f"{name}_exit_s: {found.exit.t_s:.3f}", f"{name}_cwnd_pkts: {found.exit.cwnd_pkts}"]
        lines += [
            f"{name}_{key}: {value}" for key, value in zip(("hypothesis", "predicts"), TEXT.get(name, ()), strict=False)
        ]
    return lines


if __name__ == "__main__":
    folder = Path(__file__).resolve().parents[1]
    assignment = load_assignment(folder)
    submission = open_submission(folder / "teacher" / "solution", assignment, sys.argv[1])
    print("\n".join(answers(Work(assignment, submission, Bench.on(ensure_built(Recipe())), "public"))))
