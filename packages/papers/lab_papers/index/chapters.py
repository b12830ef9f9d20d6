# SPDX-License-Identifier: GPL-2.0-or-later
"""A notebook's artefacts as a chapter of the page."""

from pathlib import Path

from lab.report.template import picture
from lab_papers.index.manifest import Artefact
from lab_papers.index.notebooks import FOLDER, Executed
from lab_papers.index.page import Chapter, Item


def chapter(results: Path, done: Executed) -> Chapter:
    """Return a notebook's figures with their SVG inline, its tables, and what is pending or left out."""
    folder = Path(FOLDER) / done.name
    items = [_item(results, folder, artefact) for artefact in done.artefacts]
    name = f"chapter-{done.name}"  # an element's name may not begin with a digit
    needs = [f"{what}: {', else '.join(names)}" for what, names in done.scenarios.items()]
    return Chapter(name, done.title, (folder / f"{done.name}.ipynb").as_posix(), items, needs, done.fault)


def _item(results: Path, folder: Path, artefact: Artefact) -> Item:
    files = [(Path(name).suffix[1:].upper(), (folder / name).as_posix()) for name in artefact.files]
    inline = None
    if artefact.kind == "figure":
        vector = (results / folder / f"{artefact.name}.svg").read_text(encoding="utf-8")
        inline = picture(artefact.name, vector, artefact.alt, artefact.caption)
    return Item(artefact.kind, artefact.source, inline, artefact.table, artefact.why, files)
