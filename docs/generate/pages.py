# SPDX-License-Identifier: GPL-2.0-or-later
"""The generated pages. They are in the repository, so that their links lead somewhere where docs are read as Markdown.

`scripts/docs pages` writes them; a test and the site's build refuse those that are not up to date.
"""

from collections.abc import Iterator
from pathlib import Path

from lab_papers.commands import data_dictionary

from generate import commands, conform, measurements, search_answers

DOCS = Path(__file__).parents[1]
MARK = "<!-- SPDX-License-Identifier: GPL-2.0-or-later -->\n<!-- Generated: scripts/docs pages -->\n"
PAGES = {
    "commands.md": commands.page,
    "conform-senders.md": conform.page,
    "data.md": lambda: "\n".join(data_dictionary.lines()) + "\n",
    "measurements.md": measurements.page,
    "search-answers.md": search_answers.page,
}


def outdated() -> Iterator[str]:
    """Name the pages that are not what would be generated now."""
    for name, page in PAGES.items():
        file = DOCS / name
        if not file.exists() or file.read_text() != MARK + page():
            yield name


if __name__ == "__main__":
    for name in outdated():
        (DOCS / name).write_text(MARK + PAGES[name]())
