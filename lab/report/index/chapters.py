# SPDX-License-Identifier: GPL-2.0-or-later
"""A notebook's artefacts as a chapter of the page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab.report.index.artefacts import read_table
from lab.report.index.notebooks import FOLDER, Executed
from lab.report.index.page import Chapter, Item
from lab.report.template import picture


def chapter(results: Path, done: Executed) -> Chapter:
    """Its figures with their SVG laid inside, its tables, and what is pending or left out."""
    folder = Path(FOLDER) / done.name
    items = [_item(results, folder, given) for given in done.artefacts]
    name = f"chapter-{done.name}"  # an element's name may not begin with a digit
    return Chapter(name, done.question, (folder / f"{done.name}.ipynb").as_posix(), items, done.fault)


def _item(results: Path, folder: Path, given: Mapping[str, Any]) -> Item:
    files = [(Path(name).suffix[1:].upper(), (folder / name).as_posix()) for name in given.get("files", [])]
    kind, seed = given["kind"], given["seed"]
    if kind == "figure":
        vector = (results / folder / f"{given['name']}.svg").read_text(encoding="utf-8")
        inline = picture(f"figure-{given['name']}".replace(".", "-"), vector, given["alt"], given["caption"])
        return Item(kind, seed, picture=inline, files=files)
    if kind == "table":
        return Item(kind, seed, table=read_table(given["table"]), files=files)
    return Item(kind, seed, why=given.get("why", ""), files=files)
