# SPDX-License-Identifier: GPL-2.0-or-later
"""Fetch the code of visitors into the cache: verified, whole or not there, with their licence shown."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from lab.base import paths
from lab.base.cache import finished, publish
from lab.base.errors import UserError
from lab.schema.load import choose
from lab.schema.visitor import Visitor, load_visitors
from lab.traces.candidates import Mirror
from lab.traces.download import Refused
from lab.traces.fetch import documents, require_all, take

COMMAND_LINE = "command line"


def folder_of(name: str, visitor: Visitor) -> Path:
    """Return the cached folder of a visitor's code; another commit or checksum is another folder."""
    sums = "".join(f"{file}\0{document.sha256}\0" for file, document in sorted(visitor.files.items()))
    digest = hashlib.sha256(f"{visitor.commit}\0{sums}".encode()).hexdigest()[:16]
    return paths.cache() / "visitors" / f"{name}-{digest}"


def is_fetched(name: str, visitor: Visitor) -> bool:
    """Return whether all files of a visitor are in the cache."""
    return finished(folder_of(name, visitor))


def chosen(names: list[str], everything: bool) -> dict[str, Visitor]:
    """Return visitors by name, or all that have a licence."""
    known = load_visitors()
    if everything == bool(names):
        raise UserError("lab senders fetch: must be given names or --all: 'lab senders list' names them")
    if everything:
        return {name: each for name, each in known.items() if each.may_be_passed_on}
    return {name: known[choose("visitor", name, list(known), COMMAND_LINE, "name")] for name in names}


def fetch(requested: dict[str, Visitor], mirror: Mirror | None) -> Iterator[str]:
    """Fetch visitors, and yield their licence and place; UserError at the end where some were not available."""
    refused: list[Refused] = []
    for name, visitor in requested.items():
        yield f"{name}: {visitor.terms}, {visitor.attribution}"
        try:
            yield f"  {_store(name, visitor, mirror)}"
        except Refused as error:
            refused.append(error)
            if len(requested) > 1:
                yield f"  {error}"
        else:
            if visitor.needs:
                yield f"  not built: it needs {visitor.needs}"
    require_all(refused, len(requested), "visitors")


def _store(name: str, visitor: Visitor, mirror: Mirror | None) -> str:
    """Store all files of a visitor or none, and return where they came from."""
    with publish(folder_of(name, visitor)) as draft:
        if draft is None:
            return "already fetched"
        places = [
            take(f"{name}/{file}", document, draft / file, documents(name, file, document, visitor, mirror))
            for file, document in visitor.files.items()
        ]
    return f"fetched from {', '.join(places)}"
