# SPDX-License-Identifier: GPL-2.0-or-later
"""Public checks: the student's links are run again, with the student's own satellite."""

from lab.course.assignment import sibling
from lab.course.marks import Marks, full, none, of_parts
from lab.course.work import Work

hypotheses = sibling(__file__, "hypotheses")
EXIT_TOLERANCE_S = 0.02
ACKS_PER_S, ACKS_TOLERANCE = 25.0, 0.5
FILES = {"mine": "mine.yml", "rival": "rival.yml"}
WORDS = ("earlier", "same", "later")
FULL_WINDOW = "That is one packet per frame of 40 ms. An ACK covers two segments: a round of more than 30 waits."


def check_one_change(work: Work) -> Marks:
    """Each link changes one thing."""
    changes = [hypotheses.change(work, file) for file in FILES.values()]
    return full("Changed: " + "; ".join(map(str, changes)) + ".")


def check_observed(work: Work) -> Marks:
    """The exits that were observed are those of the student's own seed."""
    parts, pictures = [], []
    for name, file in {"base": None, **FILES}.items():
        found = hypotheses.run(work, file, work.seed())
        own_s, own_pkts = work.answers.number(f"{name}_exit_s"), work.answers.number(f"{name}_cwnd_pkts")
        true_s = found.exit.t_s if found.exit else None
        right_s = true_s is not None and abs(own_s - true_s) <= EXIT_TOLERANCE_S
        shown = f"{true_s:.3f} s" if true_s is not None else "never"
        parts += [
            (right_s, f"{name}_exit_s={own_s:g}: over {file or 'the given link'} and your satellite HyStart leaves at {shown}."),
            (own_pkts == hypotheses.window(found), f"{name}_cwnd_pkts={own_pkts:g}: the window is then {hypotheses.window(found)}."),
        ]
        pictures.append(found.picture(name, f"{file or 'The given link'}."))
    if all(held for held, _ in parts):
        return full("Every observed value is right.", *pictures)
    return of_parts(parts, "", *pictures)


def check_predictions(work: Work) -> Marks:
    """Each hypothesis predicts what the student states, and the changed field tests it."""
    parts = []
    for name, file in FILES.items():
        change, hypothesis = hypotheses.change(work, file), _hypothesis(work, name)
        stated, predicted = work.answers.choice(f"{name}_predicts", WORDS), change.prediction(hypothesis)
        fields = " or ".join(hypotheses.HYPOTHESES[hypothesis])
        if predicted is None:
            parts.append((False, f"{file}: {change.field} does not test {hypothesis}: change {fields}."))
        else:
            reason = f"{name}_predicts={stated}: if {hypothesis} is right, {change} makes HyStart leave {predicted}."
            parts.append((stated == predicted, reason))
    acks = work.answers.number("acks_per_s")
    reason = f"acks_per_s={acks:g}: the link carries {ACKS_PER_S:g} without a request. {FULL_WINDOW}"
    parts.append((abs(acks - ACKS_PER_S) <= ACKS_TOLERANCE, reason))
    return of_parts(parts)


def check_conclusion(work: Work) -> Marks:
    """The runs support one hypothesis and refute the other."""
    return conclusion(work)


def conclusion(work: Work) -> Marks:
    """Judge both hypotheses by the runs of a seed of the work's part."""
    base, parts = hypotheses.run(work, None, work.seed()), []
    if _hypothesis(work, "mine") == _hypothesis(work, "rival"):
        return none("mine_hypothesis and rival_hypothesis are the same: a test needs something to tell apart.")
    for name, file in FILES.items():
        hypothesis, found = _hypothesis(work, name), hypotheses.run(work, file, work.seed())
        predicted, observed = hypotheses.change(work, file).prediction(hypothesis), hypotheses.shift(base, found)
        parts.append((_holds(name, predicted, observed), _verdict(name, hypothesis, predicted, observed, hypotheses.moved(base, found))))
    return of_parts(parts)


def _holds(name: str, predicted: str | None, observed: str) -> bool:
    if predicted is None or observed == "unclear":
        return False
    return (predicted == observed) == (name == "mine")


def _verdict(name: str, hypothesis: str, predicted: str | None, observed: str, moved: str) -> str:
    if predicted is None:
        return f"{FILES[name]} does not test {hypothesis}."
    if observed == "unclear":
        return f"{FILES[name]} decides nothing about {hypothesis}. {moved}"
    verdict = "supports" if predicted == observed else "refutes"
    both = " A run that agrees with both hypotheses cannot tell them apart." if verdict == "supports" and name == "rival" else ""
    return f"Your run of {FILES[name]} {verdict} {hypothesis}, which predicts {predicted}. {moved}{both}"


def _hypothesis(work: Work, name: str) -> str:
    return work.answers.choice(f"{name}_hypothesis", tuple(hypotheses.HYPOTHESES))
