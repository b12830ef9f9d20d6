# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures: what a check may compare, by name. Each takes a view of a trial and gives a number or a name."""

import inspect
from collections.abc import Callable
from typing import Any

from lab_conform.measures import bins, cubic, flight, path, recovery, resume, window

Measure = Callable[..., float | str]
FROM_BEGIN = -1  # of an event: none, which is a default
LEAST = {"number": 1, "rounds": 1, "rtts": 0.1}  # 0 of any other parameter
MODULES = (flight, window, recovery, cubic, bins, path, resume)
MEASURES: dict[str, Measure] = {
    name: function
    for module in MODULES
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__ and not name.startswith("_")
}


def fault(name: str, given: dict[str, Any], events: int) -> str | None:
    """Return what is wrong with the parameters of a measure, of a case with so many events; None where they fit."""
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
        if value == each.default == FROM_BEGIN or kind is str:
            continue
        if each.name == "event" and not 0 <= value < events:
            return f"{name} with an event of the link's {events}, counted from 0"
        if value < LEAST.get(each.name, 0):
            return f"{name} whose {each.name} is {LEAST.get(each.name, 0)} or more"
    return None
