# SPDX-License-Identifier: GPL-2.0-or-later
"""MkDocs hooks: pages that are generated, and places of others for measured figures."""

from generate import pages, places
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page


def on_files(files: Files, config: MkDocsConfig) -> Files:  # noqa: ARG001
    """Refuse generated pages that are not up to date."""
    for name in pages.outdated():
        raise PluginError(f"docs/{name}: must be as generated: run 'scripts/docs pages'")
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Fill a page's places for measured figures."""
    return places.page(markdown)
