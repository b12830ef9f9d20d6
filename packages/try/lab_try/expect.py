# SPDX-License-Identifier: GPL-2.0-or-later
"""What somebody expects of a comparison, such as "geo: chokepoint >= cubic", and whether it holds: for a CI."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from lab.base.errors import COMMAND_LINE, field_error
from lab.base.format import AT_LEAST
from lab.base.stats import AtLeast, difference, mean_of
from lab.evaluation.compare.comparison import Comparison
from lab.evaluation.compare.exits import exits_of
from lab.evaluation.compare.measures import BY_NAME, Measure
from lab.evaluation.compare.results import LinkResult
from lab.runs.link_kinds import Link

FORM = re.compile(r"\s*([\w.-]+)\s*:\s*(\w+)\s*([<>]=?+)\s*(\S+)\s*")
RULE = '"LINK: MEASURE OPERATOR SENDER" or a number instead of the sender, such as "geo: chokepoint >= cubic"'
OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True)
class Expectation:
    """How a subject's mean over its valid trials is to compare with another sender's, or with a number."""

    text: str
    link: str
    measure: Measure
    operator: str
    right: str | float


@dataclass(frozen=True)
class Judged:
    """An expectation of one subject, and what came out."""

    link: str
    text: str
    subject: str
    holds: bool
    found: str


def read(text: str) -> Expectation:
    """Read an expectation; UserError with the form that it must have."""
    parts = FORM.fullmatch(text)
    if not parts:
        raise field_error(COMMAND_LINE, "expect", text, RULE)
    link, measure, sign, right = parts.groups()
    if measure not in BY_NAME:
        raise field_error(COMMAND_LINE, "expect", text, f"of a measure: {', '.join(BY_NAME)}")
    value = _number(right)
    if isinstance(value, float) and not (0 <= value <= 1 if BY_NAME[measure].binary else isfinite(value)):
        rule = "of a share from 0 to 1, not in percent" if BY_NAME[measure].binary else RULE
        raise field_error(COMMAND_LINE, "expect", text, rule)
    return Expectation(text.strip(), link, BY_NAME[measure], sign, value)


def _number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def require_known(expectations: Sequence[Expectation], comparison: Comparison) -> None:
    """Refuse an expectation that no trial can decide: of a link, a measure or a sender that is not there."""
    links = {link.name: link for link in comparison.links}
    for each in expectations:
        if rule := _undecided(each, links, comparison):
            raise field_error(COMMAND_LINE, "expect", each.text, rule)


def _undecided(expectation: Expectation, links: Mapping[str, Link], comparison: Comparison) -> str | None:
    """Return the rule that an expectation breaks; None where trials decide it."""
    right = expectation.right
    if expectation.link not in links:
        return f"of a link that runs: {', '.join(links)}"
    if expectation.measure.shared != bool(links[expectation.link].rival):
        return "of harm on a shared link, and of another measure on any other link"
    if isinstance(right, str) and right not in comparison.senders:
        return f"compared with a number or one of {', '.join(comparison.senders)}"
    return "compared with another sender than itself" if [right] == list(comparison.subjects) else None


def judged(expectations: Sequence[Expectation], subjects: Sequence[str], found: Sequence[LinkResult]) -> list[Judged]:
    """Judge every expectation for every subject; one without a value does not hold."""
    by_name = {each.link.name: each for each in found}
    return [_judged(each, subject, by_name[each.link]) for each in expectations for subject in subjects]


def _judged(expectation: Expectation, subject: str, found: LinkResult) -> Judged:
    measure, right = expectation.measure, expectation.right
    values = found.values.get(measure.name, {})
    exits = exits_of(found).get(subject) if measure.binary else None
    forged = exits.contradictions if exits else []
    own = mean_of(values.get(subject, []))
    other = right if isinstance(right, float) else mean_of(values.get(right, []))
    known = difference(own, other) is not None
    holds = own is not None and other is not None and known and OPERATORS[expectation.operator](own, other)
    named = [(subject, own)] + ([] if isinstance(right, float) else [(right, other)])
    shown = ", ".join(f"{name} {_text(value, measure)}" for name, value in named)
    refused = f"; {len(forged)} of its trials count for nothing: {forged[0]}" if forged else ""
    return Judged(expectation.link, expectation.text, subject, holds, shown + refused)


def _text(value: float | None, measure: Measure) -> str:
    if value is None:
        return "has no value"
    return (
        f"{AT_LEAST if isinstance(value, AtLeast) else ''}{100 * value if measure.binary else value:.4g} {measure.unit}"
    )
