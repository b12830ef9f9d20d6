# SPDX-License-Identifier: GPL-2.0-or-later
"""All ways in which senders exist, and the way of a sender."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lab.base.paths import CCAS
from lab.schema.cca import Cca, stanza_files
from lab.senders.way import Progress, Senders, Way

if TYPE_CHECKING:
    from lab.backends.backend import Backend
    from lab.backends.virtual import Virtual

OWN = "own"  # in a trial's folder: files that are not of the kernel or its modules


class OwnModule(Way):
    """Modules that are not part of the kernel: each is a file, known by its digest, and copied into a trial."""

    def owns(self, cca: Cca) -> bool:
        """Return whether a sender is such a module."""
        return bool(cca.module and cca.module_digest)

    def files(self, cca: Cca, backend: "Backend") -> dict[str, Path]:
        """Return the module, as this backend's kernel loads it."""
        assert cca.module
        return {own_file(cca.module): backend.own_modules[cca.module_digest]} if cca.module_digest else {}


class Tree(Way):
    """Senders of the kernel's own tree, and the lab's modules beside them: lab/cca.yml."""

    file = CCAS

    def owns(self, _cca: Cca) -> bool:
        """Return True: what no other way owns."""
        return True


def own_file(module: str) -> str:
    """Return where a module that is not the lab's own lies in a trial's folder."""
    return f"{OWN}/{module}.ko"


OF_KERNEL = (OwnModule(), Tree())  # the last one owns what no other way does


def ways() -> list[Way]:
    """Return every way, those of packages first."""
    return [*cast("list[Way]", stanza_files()), *OF_KERNEL]


def way_of(cca: Cca) -> Way:
    """Return the way in which a sender exists."""
    return next(way for way in ways() if way.owns(cca))


def by_way(senders: Senders) -> Iterator[tuple[Way, dict[str, Cca]]]:
    """Yield each way of some senders, with its senders by name."""
    for way in ways():
        own = {name: cca for name, cca in senders.items() if way_of(cca) is way}
        if own:
            yield way, own


def prepared(
    senders: Senders, virtual: "Virtual", progress: Progress = lambda _what: None
) -> "tuple[dict[str, Cca], Virtual]":
    """Return the senders, in their order, and the virtual kernel with all that they need, which is built."""
    found: dict[str, Cca] = dict(senders)
    for way, own in by_way(senders):
        ready, virtual = way.prepare(own, virtual, progress)
        found |= ready
    return found, virtual
