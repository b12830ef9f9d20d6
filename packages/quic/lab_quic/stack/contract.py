# SPDX-License-Identifier: GPL-2.0-or-later
"""The file of a stack: what it is, how both ends are started, what comes along, and where its qlog lies."""

import re
import shlex
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import Field, field_validator

from lab.base.errors import field_error
from lab.schema.cca import Algorithm, Cause, Label
from lab.schema.load import Strict, like, load

Name = Annotated[str, like(r"[a-z][a-z0-9_]{0,23}", "1 to 24 small letters, digits and _, a letter first")]
PLACEHOLDERS = ("address", "port", "bytes", "datagram", "cca", "qlog", "stack", "cert", "key")
BRACES = re.compile(r"\{([^{}]*)\}")
WORLDS = "python3"  # a program of the guest's own, beside those of the stack
Variable = Annotated[str, like(r"[A-Za-z_][A-Za-z0-9_]{0,63}", "1 to 64 letters, digits and _, no digit first")]
MOST_CHARS = 4000
Line = Annotated[str, Field(min_length=1, max_length=MOST_CHARS)]
Inside = Annotated[str, Field(min_length=1, max_length=500)]


class Stack(Strict):
    """A stack of a user's."""

    name: Name
    version: Annotated[Label, Field(max_length=60)]  # a part of the senders' labels
    licence: Annotated[str, Field(min_length=1, max_length=100)]
    transport: Literal["quic", "udp"] = "quic"
    server: Line
    client: Line
    controls: Annotated[list[Algorithm], Field(min_length=1, max_length=20)]
    qlog: Inside | None = None  # of the server, below {qlog}: a path, whose last part may be a pattern
    files: list[Inside] = []  # files and folders that come along, beside the programs
    libraries: list[Inside] = []  # folders with libraries, searched before the system's
    environment: dict[Variable, Annotated[str, Field(max_length=MOST_CHARS)]] = {}
    causes: dict[str, Cause] = {}  # by control: the rule by which it leaves slow start

    @field_validator("server", "client")
    @classmethod
    def _command(cls, line: str) -> str:
        """Refuse a line that is no command."""
        _require_words(line)
        return line

    @field_validator("environment")
    @classmethod
    def _values(cls, environment: dict[str, str]) -> dict[str, str]:
        for value in environment.values():
            _require_known(value)
        return environment

    @field_validator("files", "libraries")
    @classmethod
    def _below(cls, places: list[str]) -> list[str]:
        return [_plain(place) for place in places]

    @field_validator("qlog")
    @classmethod
    def _log(cls, place: str | None) -> str | None:
        return place and _plain(place)

    @property
    def programs(self) -> list[str]:
        """Return the paths of its programs, without the guest's own."""
        first = [_plain(shlex.split(line)[0]) for line in (self.server, self.client)]
        return sorted({program for program in first if program != WORLDS})


def read(file: Path) -> Stack:
    """Read the file of a stack; UserError names the first field that is wrong."""
    stack = load(Stack, file)
    for end, line in (("server", stack.server), ("client", stack.client)):
        for needed in ("port", "address", "bytes") if end == "client" else ("port",):
            if f"{{{needed}}}" not in line:
                raise field_error(file, end, line, f"a command with {{{needed}}}")
    if len(set(stack.controls)) != len(stack.controls):
        raise field_error(file, "controls", ", ".join(stack.controls), "a list that names each control once")
    if unknown := sorted(set(stack.causes) - set(stack.controls)):
        raise field_error(file, "causes", unknown[0], "one of its controls")
    if stack.qlog and not any("{qlog}" in text for text in (stack.server, *stack.environment.values())):
        raise field_error(file, "server", stack.server, "a command, or a variable, with {qlog}, since qlog is given")
    return stack


def filled(line: str, values: dict[str, str]) -> list[str]:
    """Return the words of a command, its program first, with its placeholders filled; a value stays inside its word."""
    program, *words = shlex.split(line)
    return [_plain(program), *(fill(word, values) for word in words)]


def fill(text: str, values: dict[str, str]) -> str:
    """Fill the placeholders of a text."""
    return BRACES.sub(lambda found: values[found[1]], text)


def _require_words(line: str) -> None:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ValueError(f"a command in whole words ({error})") from None
    if not words:
        raise ValueError("a command")
    _plain(words[0])
    _require_known(line)


def _require_known(text: str) -> None:
    for found in BRACES.findall(text):
        if found not in PLACEHOLDERS:
            known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            raise ValueError(f"without {{{found[:40]}}}: the lab fills {known}")


def _plain(place: str) -> str:
    """Return a path in its one spelling; ValueError where it leaves the folder of the stack's file."""
    path = PurePosixPath(place)
    if path.is_absolute() or ".." in path.parts or "\0" in place:
        raise ValueError("a path below the folder of this file")
    return str(path)
