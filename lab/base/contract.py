# SPDX-License-Identifier: GPL-2.0-or-later
"""Contracts of JSON files: a TypedDict whose fields carry their meaning, checked when read and listed for readers.

A field is `Annotated[type, meaning]` or `Annotated[type, meaning, unit]`; without a unit of its own it has the unit
that its name ends in. A meaning ends with "; null ..." where the value may be null.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from lab.base.errors import UserError, field_error
from lab.base.plain_text import cut

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
LIMIT = 2**63  # of every number: no counter or clock has more, and a table can hold it
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
    for path, value, rule in _breaches_of(contract)(content, ""):
        raise field_error(file, path, cut(str(value), 60), rule) if path else UserError(f"{file}: must be {rule}")


Breach = tuple[str, Any, str]  # path, value and rule of what has not the type that it must have
Breaches = Callable[[Any, str], Iterable[Breach]]  # of a value at a path
NONE: tuple[Breach, ...] = ()


@cache
def _breaches_of(kind: Any) -> Breaches:
    """Return what finds the breaches of a type: made once, since a run has thousands of files of one contract."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        return _object(kind)
    if origin in (Union, UnionType):
        return _union(arguments)
    if origin is Annotated:
        return _breaches_of(arguments[0])
    if origin is Literal:
        return _literal(arguments)
    if origin is list:
        return _each(list, "a list", arguments[0])
    if origin is dict:
        return _each(dict, "a JSON object", arguments[1])
    return _plain(kind)


def _object(contract: Any) -> Breaches:
    known = [(field.name, _breaches_of(field.kind), field.required) for field in fields(contract)]

    def breaches(value: Any, path: str) -> Iterator[Breach]:
        if not isinstance(value, dict):
            yield path, value, "a JSON object"
            return
        for name, breaches_of, required in known:
            where = f"{path}.{name}" if path else name
            if name in value:
                yield from breaches_of(value[name], where)
            elif required:
                yield where, "", "given"

    return breaches


def _union(kinds: tuple[Any, ...]) -> Breaches:
    each_of = [_breaches_of(kind) for kind in kinds]

    def breaches(value: Any, path: str) -> Iterable[Breach]:
        first: list[Breach] = []
        for breaches_of in each_of:
            found = list(breaches_of(value, path))
            if not found:
                return NONE
            first = first or found[:1]
        return first

    return breaches


def _literal(values: tuple[Any, ...]) -> Breaches:
    rule = f"one of {', '.join(map(str, values))}"
    return lambda value, path: NONE if value in values else ((path, value, rule),)


def _each(holder: Any, rule: str, kind: Any) -> Breaches:
    """Return what breaks the contract of a list's or an object's members, which are all of one kind."""
    breaches_of = _breaches_of(kind)

    def breaches(value: Any, path: str) -> Iterator[Breach]:
        if not isinstance(value, holder):
            yield path, value, rule
            return
        for name, one in value.items() if holder is dict else enumerate(value):
            yield from breaches_of(one, f"{path}.{name}" if holder is dict else f"{path}[{name}]")

    return breaches


def _plain(kind: Any) -> Breaches:
    if kind is Any:
        return lambda _value, _path: NONE
    types: Any = {None: NoneType, int: int, float: (int, float)}.get(kind, kind)
    rule, is_number = KINDS.get(kind, "null"), kind in (int, float)

    def breaches(value: Any, path: str) -> Iterable[Breach]:
        if not isinstance(value, types) or (is_number and isinstance(value, bool)):
            return ((path, value, rule),)
        if is_number and not abs(value) < LIMIT:  # NaN is below nothing
            return ((path, value, "a number below 2^63"),)
        return NONE

    return breaches
