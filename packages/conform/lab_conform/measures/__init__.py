# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures: what a check may compare, by name. Each takes a view of a trial and gives a number or a name."""

import inspect
from collections.abc import Callable
from typing import Any

from lab_conform.measures import bins, cubic, flight, path, recovery, resume, window

Measure = Callable[..., float | str]
MODULES = (flight, window, recovery, cubic, bins, path, resume)
MEASURES: dict[str, Measure] = {
    name: function
    for module in MODULES
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__ and not name.startswith("_")
}


def fault(name: str, given: dict[str, Any]) -> str | None:
    """Return what is wrong with the parameters of a measure; None where they fit."""
    parameters = list(inspect.signature(MEASURES[name]).parameters.values())[1:]
    known = {each.name: each for each in parameters}
    for unknown in given.keys() - known.keys():
        return f"parameters of {name}: {', '.join(known) or 'none'} (not {unknown})"
    for each in parameters:
        if each.default is inspect.Parameter.empty and each.name not in given:
            return f"{name} with its parameter {each.name}"
        kind = type(each.default) if each.default is not inspect.Parameter.empty else each.annotation
        value = given.get(each.name, each.default)
        numbers = (int, float) if kind is float else (kind,)
        if isinstance(value, bool) or not isinstance(value, numbers):
            return f"{name} whose {each.name} is {'a number' if kind is float else kind.__name__}"
    return None
