# SPDX-License-Identifier: GPL-2.0-or-later
"""Contracts of JSON files: a TypedDict whose fields carry their meaning, checked when read and listed for readers.

A field is `Annotated[type, meaning]` or `Annotated[type, meaning, unit]`; without a unit of its own it has the unit
that its name ends in. A meaning ends with "; null ..." where the value may be null.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from lab.base.errors import UserError, field_error

UNITS = {
    "ns": "ns",
    "us": "µs",
    "ms": "ms",
    "s": "s",
    "bytes": "bytes",
    "pkts": "packets",
    "pct": "%",
    "mbps": "Mb/s",
    "bps": "bit/s",
}
NULL = "; null "
LIMIT = 2**64  # of every number: no counter or clock has more, and arithmetic on it cannot overflow
KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


@dataclass(frozen=True)
class Field:
    """One field of a contract."""

    name: str
    kind: Any  # the type of its value, without annotations
    meaning: str
    unit: str
    null: str  # when the value is null; empty: never
    required: bool


def unit_of(name: str) -> str:
    """Return the unit that a name ends in; empty where it has none."""
    return UNITS.get(name.rpartition("_")[2], "") if "_" in name else ""


@cache
def fields(contract: Any) -> tuple[Field, ...]:
    """List the fields of a TypedDict, in the order of their definition."""
    hints = get_type_hints(contract, include_extras=True)
    return tuple(_field(name, hint, name in contract.__required_keys__) for name, hint in hints.items())


def _field(name: str, hint: Any, required: bool) -> Field:
    if get_origin(hint) is NotRequired:
        (hint,) = get_args(hint)
    kind, text, *unit = get_args(hint)
    meaning, _, null = text.partition(NULL)
    return Field(name, kind, meaning, unit[0] if unit else unit_of(name), null, required)


def parts(contract: Any) -> Iterator[Any]:
    """Yield a TypedDict and every TypedDict that its fields hold, each once."""
    found = [contract]
    for one in found:
        yield one
        for field in fields(one):
            found += [part for part in _typed_dicts(field.kind) if part not in found]


def _typed_dicts(kind: Any) -> list[Any]:
    if is_typeddict(kind):
        return [kind]
    return [part for argument in get_args(kind) for part in _typed_dicts(argument)]


def check(content: Any, contract: Any, file: Path) -> None:
    """Raise UserError where JSON content breaks its contract: one line that names the first field. More is allowed."""
    for path, value, rule in _breaches(content, contract, ""):
        raise field_error(file, path, _short(value), rule) if path else UserError(f"{file}: must be {rule}")


def _breaches(value: Any, kind: Any, path: str) -> Iterator[tuple[str, Any, str]]:
    """Yield path, value and rule of whatever has not the type that it must have."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        yield from _object_breaches(value, kind, path)
    elif origin in (Union, UnionType):
        found = [list(_breaches(value, argument, path)) for argument in arguments]
        if all(found):
            yield found[0][0]
    elif origin is Annotated:
        yield from _breaches(value, arguments[0], path)
    elif origin is Literal:
        if value not in arguments:
            yield path, value, f"one of {', '.join(map(str, arguments))}"
    elif origin is list:
        yield from _list_breaches(value, arguments[0], path)
    elif origin is dict:
        yield from _dict_breaches(value, arguments[1], path)
    elif not _is(value, kind):
        yield path, value, KINDS.get(kind, "null")
    elif kind in (int, float) and not abs(value) < LIMIT:  # NaN is below nothing
        yield path, value, "a number below 2^64"


def _object_breaches(value: Any, contract: Any, path: str) -> Iterator[tuple[str, Any, str]]:
    if not isinstance(value, dict):
        yield path, value, "a JSON object"
        return
    for field in fields(contract):
        where = f"{path}.{field.name}".lstrip(".")
        if field.name in value:
            yield from _breaches(value[field.name], field.kind, where)
        elif field.required:
            yield where, "", "given"


def _list_breaches(value: Any, kind: Any, path: str) -> Iterator[tuple[str, Any, str]]:
    if not isinstance(value, list):
        yield path, value, "a list"
        return
    for number, one in enumerate(value):
        yield from _breaches(one, kind, f"{path}[{number}]")


def _dict_breaches(value: Any, kind: Any, path: str) -> Iterator[tuple[str, Any, str]]:
    if not isinstance(value, dict):
        yield path, value, "a JSON object"
        return
    for name, one in value.items():
        yield from _breaches(one, kind, f"{path}.{name}")


def _is(value: Any, kind: Any) -> bool:
    if kind is Any:
        return True
    if kind in (None, NoneType):
        return value is None
    if kind in (int, float):
        return isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
    return isinstance(value, kind)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
