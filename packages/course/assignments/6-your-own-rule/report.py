# SPDX-License-Identifier: GPL-2.0-or-later
"""The form of the report: two pages, its sections, its figures, and the numbers of its table."""

import re

from lab.base.errors import UserError
from lab.base.plain_text import cut, escaped

FILE = "report.md"
SECTIONS = ("Rule", "Hypothesis", "Results", "Limits")
WORDS = (400, 1100)  # two pages
FIGURES, CAPTION_WORDS = 2, 6
FIGURE = re.compile(r"!\[(Figure ([0-9]{1,4}): [^\]]{0,2000})\]\([^)\s]+\)")
HEADING = re.compile(r"^#{1,3} +(\S.*)$", re.MULTILINE)
WORD = re.compile(r"[^\W\d_][\w'-]*")
MOST_CHARS, CELL_CHARS = 30_000, 40


def parts(text):
    """Return the form's conditions, each with whether it holds and a sentence."""
    if len(text) > MOST_CHARS:
        raise UserError(f"{FILE}: characters={len(text)}: must be at most {MOST_CHARS}: two pages")
    words = len(WORD.findall(text))
    headings = {each.strip().lower() for each in HEADING.findall(text)}
    missing = [each for each in SECTIONS if each.lower() not in headings]
    captions = [caption for caption, _ in FIGURE.findall(text)]
    named = [each for each in captions if len(WORD.findall(each)) > CAPTION_WORDS]
    numbers = [int(number) for _, number in FIGURE.findall(text)]
    body = FIGURE.sub("", text)
    unnamed = [n for n in numbers if not re.search(rf"\bFigure {n}\b", body)]
    return [
        (WORDS[0] <= words <= WORDS[1], f"The report has {words} words; two pages are {WORDS[0]} to {WORDS[1]}."),
        (not missing, f"Missing sections: {', '.join(missing)}." if missing else "All sections are there."),
        (
            len(named) >= FIGURES,
            f"{len(named)} figures have a caption that says what they show, as in ![Figure 1: ...](exit.svg); "
            f"{FIGURES} must.",
        ),
        (
            bool(numbers) and not unnamed,
            f"The text names no Figure {unnamed[0]}." if unnamed else "The text names each figure."
            if numbers else "There is no figure that the text could name.",
        ),
    ]  # fmt: skip


def table(text):
    """Read the table with the column `link`: its rows by link, as texts by column; a line may quote them."""
    rows = [
        [cut(escaped(cell.strip()), CELL_CHARS) for cell in line.strip().strip("|").split("|")]
        for line in text.splitlines()
        if "|" in line
    ]
    begin = next((n for n, row in enumerate(rows) if row and row[0].lower() == "link"), None)
    if begin is None:
        raise UserError(f"{FILE}: table: must be given, with the columns that 'make grade' prints")
    names = rows[begin][1:]
    found = {}
    for row in rows[begin + 2 :]:
        if len(row) != len(names) + 1:
            break
        found[row[0]] = dict(zip(names, row[1:], strict=True))
    return found
