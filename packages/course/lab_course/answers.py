# SPDX-License-Identifier: GPL-2.0-or-later
"""A student's answers: answers.yml, or the literal `answers = {...}` of the notebook's cell with that tag.

The notebook is read as text. None of its code is executed: a literal is parsed, and nothing else is accepted.
"""

import ast
import re
from collections.abc import Mapping

from lab.base import strict_json
from lab.base.errors import UserError, field_error
from lab.schema.load import parse_yaml
from lab_course.submission import Submission

FILE, NOTEBOOK, TAG = "answers.yml", "notebook.ipynb", "answers"
MOST_LITERAL_CHARS = 20_000
MOST_NUMBER = 1e300  # a larger integer is no float
EXPONENT = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]{1,3}")  # YAML 1.1 reads 1e3 as a text
ANSWERS = "answers = {...} alone: numbers, texts and lists, each name once"
NOTEBOOK_RULE = f"a notebook with one cell of the tag '{TAG}' that holds {ANSWERS}"
MOST_SHOWN_CHARS = 60  # of code in a value's place
ENTRY = re.compile(r"""(\s*("[^"'\\]+"|'[^"'\\]+'))\s*:?(.*)""", re.DOTALL)  # a line of the answers: a name, and more
ENDS, LAST_ENDS = ('"": 0}',), ("}", "")  # what may follow the line of an answer, and that of the last one
UNREADABLE = (ValueError, TypeError, SyntaxError, RecursionError, MemoryError)


class Code(str):
    """What stands in a notebook in a value's place, and is none: it is named, and not run."""


class Answers:
    """Answers by name; each getter raises UserError in one line where the answer is missing or of another kind."""

    def __init__(self, values: Mapping[str, object], file: str) -> None:
        self.values, self.file = values, file

    def number(self, name: str) -> float:
        """Return a finite number."""
        value = self._given(name)
        if isinstance(value, str) and EXPONENT.fullmatch(value):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MOST_NUMBER:
            rule = "a number such as 5.6: no quotes, comma or unit" if isinstance(value, str) else "a number"
            raise field_error(self.file, name, value, rule)
        return float(value)

    def text(self, name: str) -> str:
        """Return a text."""
        value = self._given(name)
        if not isinstance(value, str):
            raise field_error(self.file, name, value, "a text")
        return value.strip()

    def choice(self, name: str, known: tuple[str, ...]) -> str:
        """Return one of some words, whatever its case."""
        value = self.text(name).lower()
        if value not in known:
            raise field_error(self.file, name, value, f"one of {', '.join(known)}")
        return value

    def numbers(self, name: str) -> list[float]:
        """Return a list of finite numbers."""
        value = self._given(name)
        if not isinstance(value, list):
            raise field_error(self.file, name, value, "a list of numbers")
        return [Answers({f"{name}[{n}]": each}, self.file).number(f"{name}[{n}]") for n, each in enumerate(value)]

    def _given(self, name: str) -> object:
        value = self.values.get(name)
        if value is None:
            raise field_error(self.file, name, "", "answered")
        if isinstance(value, Code):
            raise field_error(
                self.file, name, value, "a value, such as 5.6 or 'text', and a comma: no code of a notebook is run"
            )
        return value


def read_answers(submission: Submission) -> Answers:
    """Return the answers of answers.yml where it was handed in, else of the notebook."""
    if FILE in submission.files:
        return Answers(_of_yaml(submission.text(FILE)), FILE)
    if NOTEBOOK in submission.files:
        return Answers(_of_notebook(submission.text(NOTEBOOK)), NOTEBOOK)
    raise UserError(f"{FILE} or {NOTEBOOK}: must be handed in")


def passed_over(submission: Submission) -> tuple[str, ...]:
    """Return a line where answers.yml is graded, and a notebook beside it answers otherwise or alone."""
    if not {FILE, NOTEBOOK} <= submission.files.keys():
        return ()
    try:
        beside = _of_notebook(submission.text(NOTEBOOK))
    except UserError:
        return ()
    try:
        graded = _of_yaml(submission.text(FILE))
    except UserError as error:
        return (f"{error}: it alone is graded, not {NOTEBOOK}",)
    for name, value in beside.items():
        if value is not None and value != graded.get(name):
            return (f"{field_error(NOTEBOOK, name, value, f'as in {FILE}')}: {FILE} alone is graded",)
    return ()


def _of_yaml(text: str) -> Mapping[str, object]:
    content = parse_yaml(text, FILE)
    if not isinstance(content, dict):
        raise UserError(f"{FILE}: must be answers by name")
    return content


def _of_notebook(text: str) -> Mapping[str, object]:
    try:
        cells = strict_json.loads(text)["cells"]
        tagged = [cell for cell in cells if TAG in cell.get("metadata", {}).get("tags", ())]
        sources = ["".join(cell["source"]) for cell in tagged]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise UserError(f"{NOTEBOOK}: must be {NOTEBOOK_RULE}") from None
    if len(sources) != 1 or len(sources[0]) > MOST_LITERAL_CHARS:
        raise UserError(f"{NOTEBOOK}: must be {NOTEBOOK_RULE}")
    return _literal(sources[0])


def _literal(source: str) -> Mapping[str, object]:
    """Parse `answers = {...}` without running it; a line of it that is no Python costs its own answer alone."""
    readable, unread = (source, {}) if _parses(source) else _readable_lines(source)
    try:
        match ast.parse(readable).body:
            case [ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict() as literal)] if name == TAG:
                names = [ast.literal_eval(key or literal) for key in literal.keys]  # no key: ** of another one
                values = {name: _value(value) for name, value in zip(names, literal.values, strict=True)}
            case _:
                raise ValueError
        if len(values) != len(literal.keys) or not all(isinstance(name, str) for name in values):
            raise ValueError  # a name that stands twice, or is no text
    except UNREADABLE:
        raise UserError(f"{NOTEBOOK}: must be {NOTEBOOK_RULE}") from None
    return {**values, **unread}


def _readable_lines(source: str) -> tuple[str, dict[str, Code]]:
    """Put None in the place of each answer whose line cannot stand in a dict; returns the text, and these answers."""
    lines, unread = source.splitlines(), dict[str, Code]()
    entries = [(number, found) for number, line in enumerate(lines) if (found := ENTRY.match(line))]
    for number, found in entries:
        ends = LAST_ENDS if number == entries[-1][0] else ENDS
        if not any(_parses(f"{{{lines[number]}\n{end}") for end in ends):
            unread[found[2][1:-1]] = Code(found[3].strip().rstrip(",")[:MOST_SHOWN_CHARS])
            lines[number] = f"{found[1]}: None,"
    return "\n".join(lines), unread


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except UNREADABLE:
        return False
    return True


def _value(node: ast.expr) -> object:
    """Return the value of a literal; of an expression what is written there, so that it costs its own answer alone."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return Code(ast.unparse(node)[:MOST_SHOWN_CHARS])
