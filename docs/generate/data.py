# SPDX-License-Identifier: GPL-2.0-or-later
"""The data dictionary: what `lab data-dictionary` prints."""

from lab_papers.commands.data_dictionary import lines


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join(lines()) + "\n"
