# SPDX-License-Identifier: GPL-2.0-or-later
"""Contracts of JSON files: a TypedDict whose fields carry their meaning, checked when read and listed for readers.

A field is `Annotated[type, meaning]` or `Annotated[type, meaning, unit]`; without a unit of its own it has the unit
that its name ends in. A meaning ends with "; null ..." where the value may be null. `Annotated[int, range(...)]` is the
type of a number that lies in the range, or between its ends.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from pydantic_core import SchemaValidator, ValidationError

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
LIMIT = 2**63  # of every number: no counter or clock has more, and a table can hold it
CHOICE = "\0"  # of a union, in pydantic's places
KINDS = {
    bool: ("bool", "true or false"),
    int: ("int", "a whole number"),
    float: ("float", "a number"),
    str: ("str", "a text"),
    NoneType: ("none", "null"),
}
FIRST = {"fail_fast": True}  # of what a stranger may make long: a breach of each item would fill the memory
RULES = {"missing": "given", "dict_type": "a JSON object", "list_type": "a list"}


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
    try:
        _validator(contract).validate_python(content)
    except ValidationError as breaches:
        first = breaches.errors(include_url=False)[0]
        rule = RULES.get(first["type"], first["msg"])
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"] if part != CHOICE)
        if not (path := "".join(parts).removeprefix(".")):
            raise UserError(f"{file}: must be {rule}") from None
        value = "" if first["type"] == "missing" else cut(str(first["input"]), 60)
        raise field_error(file, path, value, rule) from None


@cache
def _validator(contract: Any) -> SchemaValidator:
    """Return what validates a contract: made once, since a run has thousands of files of one contract."""
    return SchemaValidator(_schema(contract))


def _schema(kind: Any) -> Any:
    """Return a type as pydantic's core takes it: pydantic itself takes no TypedDict of Python 3.11's."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        members = {
            each.name: {"type": "typed-dict-field", "schema": _schema(each.kind), "required": each.required}
            for each in fields(kind)
        }
        return {"type": "typed-dict", "fields": members}
    if origin in (Union, UnionType):
        return _either(map(_schema, arguments))
    if origin is Annotated:
        number, bounds = arguments
        most = bounds.stop - 1
        rule = f"from {bounds.start} to {most}" if bounds.stop < LIMIT else f"{bounds.start} or more"
        return _chain(_plain(number), _number(number, rule, ge=bounds.start, le=most))
    if origin is Literal:
        return _ruled({"type": "literal", "expected": list(arguments)}, f"one of {', '.join(map(str, arguments))}")
    if origin is list:
        return {"type": "list", "strict": True, "items_schema": _schema(*arguments), **FIRST}
    if origin is tuple:
        count = len(arguments)
        length = {"type": "list", "strict": True, "min_length": count, "max_length": count}
        items = {"type": "tuple", "items_schema": [*map(_schema, arguments)], **FIRST}
        return _chain(_ruled(length, f"a list of {count}"), items)
    if origin is dict:
        return {"type": "dict", "values_schema": _schema(arguments[1]), **FIRST}
    return _plain(kind)


def _plain(kind: Any) -> Any:
    if kind is Any:
        return {"type": "any"}
    name, rule = KINDS[kind]
    if kind in (int, float):
        return _chain(_number(kind, rule), _number(kind, "a number below 2^63", gt=-LIMIT, lt=LIMIT))
    return _ruled({"type": name, "strict": True}, rule)


def _number(kind: Any, rule: str, **bounds: int) -> Any:
    """Require a number; a whole one may stand for a fraction, but not the other way round."""
    whole = {"type": "int", "strict": True, **bounds}
    fraction = {"type": "float", "strict": True, "allow_inf_nan": not bounds, **bounds}
    return _ruled(whole if kind is int else _either((whole, fraction)), rule)


def _chain(*schemas: Any) -> Any:
    return {"type": "chain", "steps": list(schemas)}


def _either(schemas: Iterable[Any]) -> Any:
    return {"type": "union", "mode": "left_to_right", "choices": [(schema, CHOICE) for schema in schemas]}


def _ruled(schema: Any, rule: str) -> Any:
    """Return a schema whose errors state a rule of the lab's."""
    return {"type": "custom-error", "schema": schema, "custom_error_type": "rule", "custom_error_message": rule}
