# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON files: one document or several one after the other, and values that must be there."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from lab.base.errors import UserError, field_error
from lab_formats.reading.text import read_text, short

INFINITE = float("inf")


@dataclass(frozen=True)
class Node:
    """A part of a document that knows its place in the file."""

    file: Path
    line: int  # at which its document begins
    place: str
    value: Any

    def refuse(self, rule: str) -> UserError:
        """Return the error of this part."""
        return field_error(f"{self.file}: line {self.line}", self.place or "document", short(self.value), rule)

    def get(self, key: str) -> "Node | None":
        """Return a member; None where there is none."""
        if not isinstance(self.value, dict):
            raise self.refuse("an object")
        place = f"{self.place}.{key}" if self.place else key
        return Node(self.file, self.line, place, self.value[key]) if key in self.value else None

    def at(self, *keys: str) -> "Node":
        """Return a member of a member that must be there."""
        node = self
        for key in keys:
            inner = node.get(key)
            if inner is None:
                raise Node(node.file, node.line, f"{node.place}.{key}".lstrip("."), "").refuse("given")
            node = inner
        return node

    def items(self) -> "Iterator[Node]":
        """Return the parts of a list."""
        if not isinstance(self.value, list):
            raise self.refuse("a list")
        for number, value in enumerate(self.value):
            yield Node(self.file, self.line, f"{self.place}[{number}]", value)

    def number(self, low: float = 0.0, high: float = INFINITE) -> float:
        """Return the value as a number within bounds."""
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)) or not low <= self.value <= high:
            raise self.refuse(f"a number from {low:g} to {high:g}")
        return float(self.value)

    def whole(self, low: int, high: int) -> int:
        """Return the value as a whole number within bounds, exactly."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not low <= self.value <= high:
            raise self.refuse(f"a whole number from {low} to {high}")
        return self.value


def counted(node: Node) -> Node:
    """Return a whole number that stands as a text, as queries of tables and early drafts of qlog have it."""
    text = node.value
    return replace(node, value=int(text)) if isinstance(text, str) and text.isdecimal() else node


def _stands_twice(name: str) -> str:
    raise ValueError(f"{short(name)} stands twice in one object")


def documents(
    path: Path,
    second: Callable[[str], str | None] = _stands_twice,
    notes: list[str] | None = None,
    repair: Callable[[str], str] = str,
) -> list[Node]:
    """Read the JSON documents of a file; UserError with the line where one is broken.

    second: what names a member of a name that the object has already (None: it is left out); it refuses, unless the
    tool that wrote the file has a rule for such members.
    notes: where given, a last line that the file's end cuts is left out and noted here, behind other documents; so are
    lines of words before the first one, such as warnings.
    repair: replaces what a tool writes that JSON does not allow, before the text is parsed.
    """
    text = repair(read_text(path))

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            unused = second(name) if name in found else name
            if unused is not None:
                found[_stands_twice(name) if unused in found else unused] = value
        return found

    decoder = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=members)
    at = 0
    found: list[Node] = []
    line, counted = 1, 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        line, counted = line + text.count("\n", counted, at), at
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if notes is not None and found and "\n" not in text[at:].rstrip():
                notes.append(f"The last line is cut, and left out: {short(text[at:].strip())}.")
                break
            if notes is not None and not found and text[at].isalpha() and "\n" in text[at:]:
                end = text.index("\n", at)
                notes.append(f"A line before the JSON is passed over: {short(text[at:end])}.")
                at = end
                continue
            raise UserError(f"{path}: line {error.lineno}: {error.msg}: must be JSON") from None
        except (RecursionError, ValueError) as error:
            raise UserError(f"{path}: line {line}: {short(error)}: must be JSON") from None
        found.append(Node(path, line, "", value))
    return found


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")
