# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts that somebody has read and approved: a change of the program that changes one is noticed.

`LAB_APPROVE=1` replaces the stored ones; the difference that git shows is what is to be read.
"""

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data/approved"
READ = ("href", "title", "alt", "aria-label", "colspan", "rowspan")  # attributes that a reader or a link depends on
PASSED_OVER = ("script", "style", "svg")


class _Text(HTMLParser):
    """The text of a page, an element's part a line, with the attributes that matter."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.inside = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside += tag in PASSED_OVER
        self.lines += [f"{name}: {_one_line(value or '')}" for name, value in attrs if name in READ and not self.inside]

    def handle_endtag(self, tag: str) -> None:
        self.inside -= tag in PASSED_OVER

    def handle_data(self, data: str) -> None:
        if not self.inside and (line := _one_line(data)):
            self.lines.append(line)


def text_of(page: str) -> str:
    """Return what a page says, without its figures."""
    parser = _Text()
    parser.feed(page)
    return "\n".join(parser.lines) + "\n"


def _one_line(text: str) -> str:
    short = re.sub(r"data:[^ ]+", "data:", text)
    return " ".join(short.split())


def json_in_six_digits(value: Any) -> str:
    """Return JSON whose fractions have the digits that every machine's arithmetic gives."""
    rounded = json.loads(json.dumps(value), parse_float=lambda digits: float(f"{float(digits):.6g}"))
    return json.dumps(rounded, sort_keys=True)


def approved(name: str, text: str) -> str:
    """Return the approved text of a name; with LAB_APPROVE, but never in CI, approve this one."""
    file = FOLDER / name
    if os.environ.get("LAB_APPROVE") and not os.environ.get("CI"):
        file.write_text(text)
    return file.read_text()
