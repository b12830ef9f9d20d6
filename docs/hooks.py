# SPDX-License-Identifier: GPL-2.0-or-later
"""MkDocs hooks: pages that are generated, and the figure of the rooms, which must follow the import contract."""

from generate import pages, places, rooms
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page


def on_files(files: Files, config: MkDocsConfig) -> Files:  # noqa: ARG001
    """Refuse generated parts that are not up to date."""
    if rooms.FIGURE.read_text() != rooms.figure():
        raise PluginError("docs/rooms.svg: must follow pyproject.toml: run 'scripts/python docs/generate/rooms.py'")
    for name in pages.outdated():
        raise PluginError(f"docs/{name}: must be as generated: run 'scripts/docs pages'")
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Fill a page's places for measured figures."""
    return places.page(markdown)
