# SPDX-License-Identifier: GPL-2.0-or-later
"""What the compiler and the kernel's build complain of, with the user's own path and a hint for Linux 6.12."""

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from lab.base.errors import UserError, one_line
from lab_try.module.hints import hint_of
from lab_try.module.source import OwnSource

MOST_LINES = 40
COMPILER = re.compile(
    r"^(?P<file>[^\s:]+):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<kind>(?:[Ff]atal )?[Ee]rror|[Ww]arning): (?P<text>.*)$"
)  # capital letters: the assembler's
MODPOST = re.compile(r"^(?P<kind>ERROR|WARNING): modpost: (?P<text>.*)$")
RULES = re.compile(
    r"^(?:make(?:\[\d+\])?: \*\*\* (?!\[|Deleting )|(?:cc1|gcc): (?:[a-z ]+ )?error: "
    r"|(?=virtual memory exhausted|(?:as|cc1|ld): out of memory))(?P<text>.*?)\.?(?:  Stop\.)?$"
)
MAKE = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+): (?:\*\*\* |(?=multiple def))(?P<text>.*?)\.?(?:  Stop\.)?$")
EXPANSION = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+):(?P<column>\d+): note: in expansion of macro ")
TAKEN_IN = re.compile(r"^In file included from (?P<file>[^\s:]+):(?P<line>\d+)[:,]")
C_FILE = re.compile(r"\.[chS]$")
GRAVE = re.compile(r"initializer-string for array of .char. is too long")  # a name without its NUL
ASSEMBLY = re.compile(r"/tmp/cc\w+\.s$")  # what the compiler made of a source
FLAG = re.compile(r" \[(?:-W[\w=+-]+(?:,-W[\w=+-]+)*)\]$")


@dataclass(frozen=True)
class Diagnostic:
    """One complaint; line and column are 0 where there is none."""

    file: str
    line_number: int
    column: int
    kind: str  # error or warning
    message: str

    @property
    def line(self) -> str:
        """Format it as compilers do; the middle of a very long one is left out."""
        numbers = [str(number) for number in (self.line_number, self.column) if number]
        return one_line(f"{':'.join([self.file, *numbers])}: {self.kind}: {self.message}")


class BuildError(UserError):
    """A source that does not build; its text is the first error, `lines` are all complaints."""

    def __init__(self, path: Path, diagnostics: list[Diagnostic], otherwise: str) -> None:
        errors = [each.line for each in diagnostics if each.kind == "error"]
        super().__init__(errors[0] if errors else f"{path}: build: {otherwise}")
        self.lines = [each.line for each in diagnostics][:MOST_LINES]


def read_diagnostics(output: str, place: str, source: OwnSource) -> list[Diagnostic]:
    """Read the output of make in `place`, with the user's own paths; each complaint once.

    Of a file that is taken in and has no name of C's, the first error says so, and what follows from it is left out.
    """
    found: list[Diagnostic] = []
    by, others = "", set[str]()
    for line in output.splitlines():
        if match := TAKEN_IN.match(line):
            by = f"{_own_path(match['file'], place, source.folder)}:{match['line']}"
        elif (
            each := _compiler(line, place, source) or _modpost(line, place, source.path) or _rules(line, place, source)
        ):
            if each.file in others:
                continue
            if by and each.line_number and each.kind == "error" and not C_FILE.search(each.file):
                others.add(each.file)
                each = replace(each, message=f"{each.message} ({by} takes this file in: it must be C)")
            found.append(each)
        elif found and (note := EXPANSION.match(line)):
            found[-1] = _expanded(found[-1], note, place, source.folder)
    return [
        replace(each, message=each.message + hint_of(each.message, _source_line(each, source)))
        for each in dict.fromkeys(found)
    ]


def _source_line(each: Diagnostic, source: OwnSource) -> str:
    path = Path(each.file)
    if not path.is_relative_to(source.folder):
        return ""
    lines = _lines(source.files.get(str(path.relative_to(source.folder)), b""))
    return lines[each.line_number - 1] if 0 < each.line_number <= len(lines) else ""


@cache
def _lines(content: bytes) -> list[str]:
    return content.decode(errors="replace").split("\n")


def _expanded(each: Diagnostic, note: re.Match[str], place: str, folder: Path) -> Diagnostic:
    """Return a complaint about a macro of the kernel's at the user's line that has it."""
    if Path(each.file).is_relative_to(folder) or not Path(note["file"]).is_relative_to(place):
        return each
    file = _own_path(note["file"], place, folder)
    return replace(each, file=file, line_number=int(note["line"]), column=int(note["column"]))


def _compiler(line: str, place: str, source: OwnSource) -> Diagnostic | None:
    match = COMPILER.match(line) or MAKE.match(line)
    if not match:
        return None
    fields = match.groupdict()
    kind = "warning" if fields.get("kind", "").lower() == "warning" and not GRAVE.search(fields["text"]) else "error"
    message = FLAG.sub("", fields["text"]).replace(f"{place}/", "")
    if ASSEMBLY.match(fields["file"]):
        return Diagnostic(str(source.path), 0, 0, kind, f"assembler: {message}")
    file = _own_path(fields["file"], place, source.folder)
    return Diagnostic(file, int(fields["line"]), int(fields.get("column") or 0), kind, message)


def _modpost(line: str, place: str, path: Path) -> Diagnostic | None:
    if not (match := MODPOST.match(line)):
        return None
    kind = "error" if match["kind"] == "ERROR" else "warning"
    return Diagnostic(str(path), 0, 0, kind, match["text"].replace(f"{place}/", ""))


def _rules(line: str, place: str, source: OwnSource) -> Diagnostic | None:
    """Read what make has no rule for, such as a file that a Kbuild names, and what ends a compiler at no line."""
    match = RULES.match(line)
    text = match["text"].replace(f"{place}/", "").removesuffix(", needed by ''") if match else ""
    return Diagnostic(str(source.path), 0, 0, "error", text) if match else None


def _own_path(file: str, place: str, folder: Path) -> str:
    """Return a path of the build as the user knows it; another file's stays."""
    path = Path(file)
    if path.is_relative_to(place):
        return str(folder / path.relative_to(place))
    return file if path.is_absolute() else str(folder / file)
