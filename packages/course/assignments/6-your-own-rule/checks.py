# SPDX-License-Identifier: GPL-2.0-or-later
"""Public checks of assignment 6: the rule works on the public links, and the report agrees with its runs."""

from lab_course.assignment import sibling
from lab_course.marks import Marks, full, none, of_parts

paired = sibling(__file__, "paired")
report = sibling(__file__, "report")
NEAR = 0.011  # of numbers with two decimals


def check_builds(work) -> Marks:
    """Build the module and let it pass the smoke test."""
    work.passed(paired.FILE)
    return full("It builds, loads, and moves data through losses, a pause and a reset.")


def check_leaves(work) -> Marks:
    """A rule of one's own, not a loss, ends slow start."""
    parts, pictures, where = [], [], ""
    for link in paired.PUBLIC:
        for ran in paired.on(work, link).own:
            parts.append(_left(link, ran))
            if not parts[-1][0]:
                where = f"{link}: the trial with seed {ran.trial.meta['seed']}."
                pictures.append(ran.picture(f"{link}-{ran.trial.meta['seed']}", "Your sender."))
    return of_parts(parts, where, *pictures)


def _left(link, ran):
    if ran.exit is None:
        return False, f"On link {link} your sender never leaves slow start within {paired.DURATION_S} s."
    if not paired.by_rule(ran):
        return False, f"On link {link} a loss ends slow start at {ran.exit.t_s:.2f} s, not your rule."
    if ran.truth["exit_class"] == "early":
        full_s = ran.truth["capacity_s"]
        until = f"which stays filled from {full_s:.2f} s on" if full_s else "which never stays filled"
        return False, f"On link {link} your rule leaves at {ran.exit.t_s:.2f} s, early by the true queue, {until}."
    return True, f"On link {link} your rule leaves at {ran.exit.t_s:.2f} s."


def check_form(work) -> Marks:
    """Two pages with sections and named figures."""
    return of_parts(report.parts(work.source(report.FILE)))


def check_numbers(work) -> Marks:
    """The table is that of this module, on this student's draws."""
    found = paired.rows(work)
    right = paired.table(found)
    given = report.table(work.source(report.FILE))
    wrong = [
        f"{link}: {name}={given.get(link, {}).get(name, '(missing)')}"
        for link, row in found.items()
        for name, value in row.items()
        if not _near(given.get(link, {}).get(name), value)
    ]
    if wrong:
        return none(
            f"The table differs from what this module does on your links: {', '.join(wrong[:4])}. Did you change the "
            f"rule after the report? This is the table:\n{right}"
        )
    return full("Every number of the table is that of this module's runs.")


def _near(text, value):
    try:
        return abs(float(text) - value) <= NEAR
    except (TypeError, ValueError):
        return False
