# SPDX-License-Identifier: GPL-2.0-or-later
"""Contracts of JSON files: a TypedDict whose fields carry their meaning, checked when read and listed for readers.

A field is `Annotated[type, meaning]` or `Annotated[type, meaning, unit]`; without a unit of its own it has the unit
that its name ends in. A meaning ends with "; null ..." where the value may be null. `Annotated[int, range(...)]` is the
type of a number that lies in the range, or between its ends.
"""

from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from lab.base import strict_json
from lab.base.errors import UserError, field_error
from lab.base.plain_file import MEGABYTE, read_plain
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
OBJECT = "a JSON object"
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
    arguments = get_args(hint)
    text, *unit = (each for each in arguments if isinstance(each, str))
    bounds = [each for each in arguments if isinstance(each, range)]
    kind = Annotated[arguments[0], bounds[0]] if bounds else arguments[0]
    meaning, _, null = text.partition(NULL)
    return Field(name, kind, meaning, unit[0] if unit else unit_of(name), null, required)


def read_checked(file: Path, contract: Any, most_bytes: int = MEGABYTE, absent: str = "", broken: str = "") -> Any:
    """Read a JSON file; UserError where it cannot be read, is too large, is not whole, or breaks its contract."""
    try:
        content = strict_json.loads(read_plain(file, most_bytes))
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}{absent}") from None
    except ValueError:
        raise UserError(f"{file}: must be whole JSON{broken}") from None
    check(content, contract, file)
    return content


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
        return _bounded(*arguments)
    if origin is Literal:
        return _literal(arguments)
    if origin in (list, tuple):
        return _list(arguments, len(arguments) if origin is tuple else None)
    if origin is dict:
        return _dict(arguments[1])
    return _plain(kind)


def _inside(kind: type[Sized], rule: str, inner: Breaches, length: int | None = None) -> Breaches:
    """Return the breaches inside of what is of a kind, and as long where a length is given."""

    def breaches(value: Any, path: str) -> Iterable[Breach]:
        if isinstance(value, kind) and length in (None, len(value)):
            return inner(value, path)
        return ((path, value, rule),)

    return breaches


def _object(contract: Any) -> Breaches:
    known = [(field.name, _breaches_of(field.kind), field.required) for field in fields(contract)]

    def inner(value: Any, path: str) -> Iterator[Breach]:
        for name, breaches_of, required in known:
            where = f"{path}.{name}" if path else name
            if name in value:
                yield from breaches_of(value[name], where)
            elif required:
                yield where, "", "given"

    return _inside(dict, OBJECT, inner)


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


def _bounded(kind: Any, bounds: range) -> Breaches:
    breaches_of, most = _breaches_of(kind), bounds.stop - 1
    rule = f"from {bounds.start} to {most}" if bounds.stop < LIMIT else f"{bounds.start} or more"

    def breaches(value: Any, path: str) -> Iterable[Breach]:
        found = tuple(breaches_of(value, path))
        return found or (NONE if bounds.start <= value <= most else ((path, value, rule),))

    return breaches


def _list(kinds: tuple[Any, ...], length: int | None) -> Breaches:
    each_of = [_breaches_of(kind) for kind in kinds]

    def inner(value: Any, path: str) -> Iterator[Breach]:
        for number, (one, breaches_of) in enumerate(zip(value, cycle(each_of), strict=False)):
            yield from breaches_of(one, f"{path}[{number}]")

    return _inside(list, "a list" if length is None else f"a list of {length}", inner, length)


def _dict(kind: Any) -> Breaches:
    breaches_of = _breaches_of(kind)
    return _inside(
        dict,
        OBJECT,
        lambda value, path: (breach for name in value for breach in breaches_of(value[name], f"{path}.{name}")),
    )


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
