# SPDX-License-Identifier: GPL-2.0-or-later
"""The trials of assignment 6: the submission against a sender of the lab, on the same draws of each link."""

from lab_course.compared import compare, object_s, queue_ms
from lab_course.work import Download

FILE, OTHER = "rule.c", "cubic_plain"
PUBLIC, HIDDEN = ("quiet", "noisy"), ("far", "near", "uneasy")
TRIALS, DURATION_S, SIZE_BYTES = 2, 4, 2_000_000


def on(work, link):
    """Run both senders over the draws of a link."""
    return compare(work, FILE, OTHER, link, TRIALS, Download(DURATION_S))


def by_rule(ran):
    """Whether a rule of its own ended slow start: what a loss ends deserves nothing here."""
    return ran.exit is not None and ran.exit.cause not in ("loss", "timeout", "other")


def rows(work):
    """Return the rows of the report's table, as numbers: of each public link the means, and the mean difference."""
    found = {}
    for link in PUBLIC:
        compared = on(work, link)
        own, other = compared.values(object_s(SIZE_BYTES))
        wait, other_wait = compared.values(queue_ms)
        found[link] = {
            "own_s": sum(own) / len(own),
            "other_s": sum(other) / len(other),
            "difference_s": compared.paired(object_s(SIZE_BYTES)).difference,
            "own_queue_ms": sum(wait) / len(wait),
            "other_queue_ms": sum(other_wait) / len(other_wait),
        }
    return found


def table(found):
    """Return the rows as the Markdown that a report holds."""
    names = list(next(iter(found.values())))
    lines = [f"| link | {' | '.join(names)} |", f"|{'---|' * (len(names) + 1)}"]
    for link, row in found.items():
        lines.append(f"| {link} | {' | '.join(f'{row[name]:.2f}' for name in names)} |")
    return "\n".join(lines)
