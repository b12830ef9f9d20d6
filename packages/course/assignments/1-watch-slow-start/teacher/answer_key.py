# SPDX-License-Identifier: GPL-2.0-or-later
"""The right answers.yml of one student: scripts/python THIS-FILE ID prints it."""

from lab_course.assignment import sibling
from lab_course.rehearse import show
from lab_course.work import Work

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


def files(work: Work) -> dict[str, str]:
    """Return the files of the solution that follow from the student's draws."""
    return {"answers.yml": "".join(f"{name}: {value}\n" for name, value in sorted(answers(work).items()))}


if __name__ == "__main__":
    show(__file__, files)
