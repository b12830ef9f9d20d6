# SPDX-License-Identifier: GPL-2.0-or-later
r"""The report as LaTeX: one tabular each, for \input into a paper that loads booktabs."""

from collections.abc import Iterable, Iterator, Sequence

from lab.base.plain_text import flat
from lab.report.table import Table

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\N{EN DASH}": "--",
    "[": "{[}",  # after \\ a bracket would be an optional argument
    "]": "{]}",
} | {character: f"\\{character}" for character in "%&$#_"}


def render(headline: Sequence[str], tables: Sequence[Table]) -> str:
    """Return the headline as a comment, then the tables."""
    return (
        "\n\n".join(
            [
                "\n".join(f"% {flat(sentence)}" for sentence in headline),
                *("\n".join(_lines(table)) for table in tables),
            ]
        )
        + "\n"
    )


def escape(text: str) -> str:
    """Text that LaTeX prints as it stands, on one line."""
    return "".join(SPECIAL.get(character, character) for character in flat(text))


def _lines(table: Table) -> Iterator[str]:
    yield f"% {flat(table.caption)}"
    yield rf"\begin{{tabular}}{{ll{'r' * (len(table.header) - 1)}}}"
    yield r"\toprule"
    yield _line((table.group_header, *table.header))
    for group in table.groups:
        yield r"\midrule"
        for row in group.rows:
            cells = map(escape, (group.label if row is group.rows[0] else "", *row.cells))
            yield _join(rf"\textit{{{cell}}}" if row.published and cell else cell for cell in cells)
    yield r"\bottomrule"
    yield r"\end{tabular}"
    for note in table.notes:
        yield rf"\par{{\footnotesize {escape(note)}}}"


def _line(cells: Sequence[str]) -> str:
    return _join(map(escape, cells))


def _join(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"
