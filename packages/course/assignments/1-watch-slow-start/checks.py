# SPDX-License-Identifier: GPL-2.0-or-later
"""Public checks: both downloads are run again, with the student's own seed."""

from lab_course.assignment import sibling
from lab_course.marks import Marks, full, of_parts
from lab_course.work import Work

from lab.report.template import Picture

downloads = sibling(__file__, "downloads")
LINKS = ("geo", "wired")
RTT_SHARE, WINDOW_SHARE, QUEUE_SHARE = 0.01, 0.05, 0.02
EYE_RTTS = 1.25
SHALLOW = "This buffer is too shallow: no segment ever waits for two RTTs, so the rule for satellites never fires."
Parts = list[tuple[bool, str]]


def check_reading(work: Work) -> Marks:
    """Round trip, window and queue are read right."""
    parts: Parts = []
    for link in LINKS:
        found = downloads.ran(work, link)
        rtt_ms, pkts, queue_mb = (
            found.truth["min_rtt_ms"],
            downloads.window_pkts(found),
            downloads.largest_queue_mb(found),
        )
        parts += [
            downloads.near(
                work,
                f"{link}_min_rtt_ms",
                rtt_ms,
                RTT_SHARE * rtt_ms,
                "ms",
                "The smallest RTT is that of an empty queue.",
            ),
            downloads.near(
                work,
                f"{link}_cwnd_pkts",
                pkts,
                WINDOW_SHARE * pkts,
                "packets",
                "Read the window at the time of the true capacity.",
            ),
            downloads.near(
                work,
                f"{link}_queue_mb",
                queue_mb,
                QUEUE_SHARE * queue_mb,
                "MB",
                "The queue stops growing where the buffer ends.",
            ),
        ]
    return of_parts(parts)


def check_eye(work: Work) -> Marks:
    """The time that the student saw lies within a round trip or so of the truth."""
    parts: Parts = []
    for link in LINKS:
        found = downloads.ran(work, link)
        why = f"From there on the queue never empties: look where its ripple leaves the ground. {_rtts(work, link)}"
        parts.append(
            downloads.near(
                work, f"{link}_eye_s", downloads.truth_s(found), EYE_RTTS * downloads.base_rtt_s(found), "s", why
            )
        )
    return _with_pictures(work, parts, "Both times lie within a round trip of the true queue's.")


def check_heuristics(work: Work) -> Marks:
    """Both heuristics give what the lab's rules give."""
    geo, wired = (downloads.ran(work, link) for link in LINKS)
    tolerance_s = downloads.TIME_TOLERANCE_S
    offset_s = geo.outcomes[downloads.OFFSET]["capacity_s"]
    medians_s = [each.outcomes[downloads.MEDIAN]["capacity_s"] for each in (geo, wired)]
    finds = work.answers.choice("wired_offset_finds", ("capacity", "nothing"))
    back = "The offset first exceeds twice the smallest RTT; go back from there to where it last was below half of it."
    rate = "The window's rate first reaches the median throughput after slow start."
    parts: Parts = [
        downloads.near(work, "geo_offset_s", offset_s, tolerance_s, "s", back),
        downloads.near(work, "geo_median_s", medians_s[0], tolerance_s, "s", rate),
        downloads.near(work, "wired_median_s", medians_s[1], tolerance_s, "s", rate),
        (finds == "nothing", f"wired_offset_finds={finds}: nothing. {SHALLOW}"),
    ]
    return of_parts(parts)


def check_truth(work: Work) -> Marks:
    """The true queue's times, and the heuristic that comes near."""
    parts: Parts = []
    for link in LINKS:
        right_s = downloads.truth_s(downloads.ran(work, link))
        why = "The first time from which the queue stays filled for one base RTT while the link is busy."
        parts.append(downloads.near(work, f"{link}_truth_s", right_s, downloads.TIME_TOLERANCE_S, "s", why))
    found = downloads.ran(work, "geo")
    errors_s = {
        name: abs(found.outcomes[rule]["capacity_s"] - downloads.truth_s(found))
        for name, rule in (("offset", downloads.OFFSET), ("median", downloads.MEDIAN))
    }
    nearer, own = min(errors_s, key=lambda name: errors_s[name]), work.answers.choice("geo_nearer", tuple(errors_s))
    shown = ", ".join(f"{name} by {error_s:.2f} s" for name, error_s in errors_s.items())
    parts.append((own == nearer, f"geo_nearer={own}: on your GEO link they are off: {shown}."))
    return _with_pictures(work, parts, "The true queue's times are right, and so is your comparison.")


def _rtts(work: Work, link: str) -> str:
    """State how far an eye's time is off, in round trips."""
    found = downloads.ran(work, link)
    off = (work.answers.number(f"{link}_eye_s") - downloads.truth_s(found)) / downloads.base_rtt_s(found)
    side = "late" if off > 0 else "early"
    loss = " That is near the first loss: the queue was full by then." if off > 3 else ""
    return f"You are {abs(off):.1f} round trips {side}.{loss}"


def _with_pictures(work: Work, parts: Parts, praise: str) -> Marks:
    pictures: list[Picture] = [downloads.ran(work, link).picture(link, f"Your {link} download.") for link in LINKS]
    if all(held for held, _ in parts):
        return full(praise, *pictures)
    return of_parts(parts, "", *pictures)
