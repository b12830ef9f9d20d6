# SPDX-License-Identifier: GPL-2.0-or-later
"""Which changes are made to one piece of code: mutmut's operators but two, and a few of our own.

mutmut's change of strings is left out: most strings here are texts that a person reads, and a changed name of a column
or a key fails at its first use, which would only raise the figure.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import libcst as cst
from mutmut.mutation import mutators

# A step of a chain that can be left out: `table.sort("t_s")` becomes `table`.
STEPS = {"sort", "drop_nulls", "fill_null", "drop_nans", "fill_nan", "filter", "unique", "abs", "clip", "round"}
OPPOSITE = {"min": "max", "any": "all", "first": "last", "head": "tail", "floor": "ceil"}
LARGE = 100
OPPOSITES = OPPOSITE | {new: old for old, new in OPPOSITE.items()}

Operator = Callable[[Any], Iterable[cst.CSTNode]]


def changes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield what a node becomes, one change each."""
    for kind, operator in OPERATORS:
        if isinstance(node, kind):
            yield from operator(node)


def _dropped_step(call: cst.Call) -> Iterator[cst.CSTNode]:
    if isinstance(call.func, cst.Attribute) and call.func.attr.value in STEPS:
        yield call.func.value


def _dropped_call(statement: cst.Expr) -> Iterator[cst.CSTNode]:
    if isinstance(statement.value, cst.Call):
        yield statement.with_changes(value=cst.Name("None"))


def _opposite(call: cst.Call) -> Iterator[cst.CSTNode]:
    if isinstance(call.func, cst.Name) and call.func.value in OPPOSITES:
        yield call.with_changes(func=cst.Name(OPPOSITES[call.func.value]))
    if isinstance(call.func, cst.Attribute) and call.func.attr.value in OPPOSITES:
        yield call.with_deep_changes(call.func.attr, value=OPPOSITES[call.func.attr.value])


def _negated(statement: cst.If | cst.While) -> Iterator[cst.CSTNode]:
    if isinstance(statement.test, cst.Name | cst.Attribute | cst.Call):
        yield statement.with_changes(test=cst.UnaryOperation(cst.Not(), statement.test))


def _number(number: cst.Integer | cst.Float) -> Iterator[cst.CSTNode]:
    """Add 1 to a small number and double a large one: of 1e6 one more is less than any tolerance."""
    value = number.evaluated_value
    if math.isfinite(value):
        yield number.with_changes(value=repr(2 * value if value >= LARGE else value + 1))


_OWN: list[tuple[Any, Operator]] = [
    (cst.Integer, _number),
    (cst.Float, _number),
    (cst.Call, _dropped_step),
    (cst.Expr, _dropped_call),
    (cst.Call, _opposite),
    ((cst.If, cst.While), _negated),
]
REPLACED = (mutators.operator_string, mutators.operator_number)
OPERATORS = [pair for pair in mutators.mutation_operators if pair[1] not in REPLACED] + _OWN
