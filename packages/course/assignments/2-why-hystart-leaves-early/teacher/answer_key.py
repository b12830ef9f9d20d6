# SPDX-License-Identifier: GPL-2.0-or-later
"""The solution's answers.yml of one student: scripts/python answer_key.py ID prints it."""

from lab_course.assignment import sibling
from lab_course.rehearse import show
from lab_course.work import Work

hypotheses = sibling(__file__, "hypotheses")
TEXT = {
    "mine": ("ack_rate", "later"),
    "rival": ("forward_queue", "later"),
}


def answers(work: Work) -> list[str]:
    """Return the lines of answers.yml."""
    lines = ["acks_per_s: 25"]
    for name, file in {"base": None, "mine": "mine.yml", "rival": "rival.yml"}.items():
        found = hypotheses.run(work, file, work.seed())
        assert found.exit
        lines += [f"{name}_exit_s: {found.exit.t_s:.3f}", f"{name}_cwnd_pkts: {found.exit.cwnd_pkts}"]
        lines += [
            f"{name}_{key}: {value}" for key, value in zip(("hypothesis", "predicts"), TEXT.get(name, ()), strict=False)
        ]
    return lines


def files(work: Work) -> dict[str, str]:
    """Return the files of the solution that follow from the student's draws."""
    return {"answers.yml": "".join(f"{line}\n" for line in answers(work))}


if __name__ == "__main__":
    show(__file__, files)
