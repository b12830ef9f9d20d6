# SPDX-License-Identifier: GPL-2.0-or-later
"""Print the right answers.yml of one student: scripts/python course/1-watch-slow-start/teacher/answer_key.py ID."""

import sys
from pathlib import Path

from lab.backends.virtual import ensure_built
from lab.course.assignment import load_assignment, sibling
from lab.course.bench import Bench
from lab.course.submission import Submission
from lab.course.work import Work
from lab.kernel.recipe import Recipe

downloads = sibling(__file__, "downloads")
DIGITS = 3
# log2(863 / 10) = 6.4 doublings of 100 ms, the handshake's round trip, and one more until the queue stands.
PREDICTED_S = 0.85


def answers(work: Work) -> dict[str, float | str]:
    """Return every answer."""
    found: dict[str, float | str] = {"wired_offset_finds": "nothing", "third_capacity_s": PREDICTED_S}
    for link in ("geo", "wired"):
        ran = downloads.ran(work, link)
        truth_s = downloads.truth_s(ran)
        median_s, offset_s = (ran.outcomes[rule]["capacity_s"] for rule in (downloads.MEDIAN, downloads.OFFSET))
        found |= {
            f"{link}_eye_s": round(truth_s, 2),
            f"{link}_min_rtt_ms": round(ran.truth["min_rtt_ms"] or 0, DIGITS),
            f"{link}_cwnd_pkts": downloads.window_pkts(ran),
            f"{link}_queue_mb": round(downloads.largest_queue_mb(ran), DIGITS),
            f"{link}_median_s": round(median_s or 0, DIGITS),
            f"{link}_truth_s": round(truth_s, DIGITS),
        }
        if offset_s is not None:
            found[f"{link}_offset_s"] = round(offset_s, DIGITS)
            found[f"{link}_nearer"] = "offset" if abs(offset_s - truth_s) < abs((median_s or 0) - truth_s) else "median"
    return found


if __name__ == "__main__":
    assignment = load_assignment(Path(__file__).resolve().parents[1])
    work = Work(assignment, Submission(Path(), sys.argv[1], {}), Bench.on(ensure_built(Recipe())), "public")
    print("# SPDX-License-Identifier: GPL-2.0-or-later")
    print("\n".join(f"{name}: {value}" for name, value in sorted(answers(work).items())))
