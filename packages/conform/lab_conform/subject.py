# SPDX-License-Identifier: GPL-2.0-or-later
"""The senders that cases are run on: what each follows and offers, and whether a case applies to it."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field

from lab.schema.cca import ESTIMATED, Cca
from lab.schema.load import Strict, parse, read_yaml
from lab_conform.case import Case, Document

# What a sender that senders.yml does not name follows and offers, by its transport; another one is a stack of a user's.
OFFERED: dict[str, tuple[list[str], list[str]]] = {"tcp": (["tcp"], ["kernel"]), "quic": (["over-quic"], ["quic"])}
FILE = Path(__file__).parent / "senders.yml"


class Stated(Strict):
    """What one sender states."""

    follows: list[Document]
    offers: list[str]


class StatedFile(Strict):
    """senders.yml."""

    groups: dict[str, list[str]]
    senders: Annotated[dict[str, Stated], Field(min_length=1)]


@dataclass(frozen=True)
class Subject:
    """One sender, with what it follows and offers."""

    cca: Cca
    follows: frozenset[str]
    offers: frozenset[str]

    def why_not(self, case: Case) -> str | None:
        """Return why a case does not apply to this sender; None where it does."""
        if case.source.document not in self.follows:
            return f"{self.cca.name} does not state that it follows {case.source.document}"
        if replaced := [each for each in case.replaced_by if each in self.follows]:
            return f"{self.cca.name} follows {replaced[0]}, which has another rule here"
        offered = self.offers - ({"unpaced"} if self.cca.qdisc else frozenset())
        if missing := [each for each in case.requires if each not in offered]:
            return f"{self.cca.name} does not offer {', '.join(missing)}"
        if case.params and not self.cca.module:
            return f"{self.cca.name} has no module with the parameters {', '.join(case.params)}"
        return None


def subject(cca: Cca, cases: list[Case]) -> Subject:
    """Return a sender with what it states; a user's own follows what the cases are about."""
    if cca.module_digest is not None and cca.transport == "tcp":
        offers = ["kernel", *(["bins"] if cca.slow_start_exit == "search" else [])]
        about = frozenset(each.source.document for each in cases) - _flat(["over-quic"])
        return Subject(cca, about, _flat(offers))
    of_stack = ["packets" if cca.slow_start_exit == ESTIMATED else "stack"]
    follows, offers = OFFERED.get(cca.transport, (["over-quic"], of_stack))
    stated = _stated().senders.get(cca.name, Stated(follows=follows, offers=offers))
    return Subject(cca, _flat(["any", *stated.follows]), _flat(stated.offers))


def _flat(names: list[str]) -> frozenset[str]:
    groups = _stated().groups
    return frozenset(each for name in names for each in groups.get(name, [name]))


@cache
def _stated() -> StatedFile:
    return parse(StatedFile, read_yaml(FILE), FILE)
