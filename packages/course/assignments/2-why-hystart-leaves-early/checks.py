# SPDX-License-Identifier: GPL-2.0-or-later
"""Public checks: the student's links are run again, with the student's own satellite."""

from lab_course.assignment import sibling
from lab_course.marks import Marks, full, none, of_parts
from lab_course.ran import Ran
from lab_course.seeds import public_seed
from lab_course.work import Work

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
        parts.append(_observed(work, name, found))
        pictures.append(found.picture(name, f"{file or 'The given link'}."))
    if all(held for held, _ in parts):
        return full("Every observed value is right.", *pictures)
    return of_parts(parts, "", *pictures)


def _observed(work: Work, name: str, found: Ran) -> tuple[bool, str]:
    """Compare the observed time and window of an exit with those of a run."""
    own_s, own_pkts = work.answers.number(f"{name}_exit_s"), work.answers.number(f"{name}_cwnd_pkts")
    true_s, true_pkts = found.exit.t_s if found.exit else None, hypotheses.window(found)
    held = true_s is not None and abs(own_s - true_s) <= EXIT_TOLERANCE_S and own_pkts == true_pkts
    shown = f"at {true_s:.3f} s, with {true_pkts} packets" if true_s is not None else "never"
    return held, f"{name}_exit_s={own_s:g}, {name}_cwnd_pkts={own_pkts:g}: over your satellite HyStart leaves {shown}."


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
    """Judge both hypotheses by the runs of a seed of the work's part; nobody concludes from what was not observed."""
    if _hypothesis(work, "mine") == _hypothesis(work, "rival"):
        return none("mine_hypothesis and rival_hypothesis are the same: a test needs something to tell apart.")
    seen = public_seed(work.assignment.name, work.student)
    observed = [_observed(work, name, hypotheses.run(work, file, seen)) for name, file in FILES.items()]
    if not all(held for held, _ in observed):
        return none("A conclusion needs your own observations, over your own satellite.")
    base = hypotheses.run(work, None, work.seed())
    (mine, about_mine), (rival, about_rival) = (_judged(work, name, base) for name in FILES)
    share = 1.0 if mine and rival else 0.5 if mine else 0.25 if rival else 0.0
    return Marks(share, f"{about_mine} {about_rival}")


def _judged(work: Work, name: str, base: Ran) -> tuple[bool, str]:
    """Return whether a run does what it is for: support the own hypothesis, refute the rival; and a sentence."""
    file, hypothesis = FILES[name], _hypothesis(work, name)
    found, predicted = hypotheses.run(work, file, work.seed()), hypotheses.change(work, file).prediction(hypothesis)
    observed = hypotheses.shift(base, found)
    return _holds(name, predicted, observed), _verdict(
        name, hypothesis, predicted, observed, hypotheses.moved(base, found)
    )


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
    both = (
        " A run that agrees with both hypotheses cannot tell them apart."
        if verdict == "supports" and name == "rival"
        else ""
    )
    return f"Your run of {FILES[name]} {verdict} {hypothesis}, which predicts {predicted}. {moved}{both}"


def _hypothesis(work: Work, name: str) -> str:
    return work.answers.choice(f"{name}_hypothesis", tuple(hypotheses.HYPOTHESES))
