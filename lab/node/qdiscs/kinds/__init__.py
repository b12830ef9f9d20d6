# SPDX-License-Identifier: GPL-2.0-or-later
"""The kinds of qdisc: one file per kind, under tc's name, which defines KIND (lab/node/qdiscs/qdisc_kind.py)."""

from functools import cache
from importlib import import_module
from pathlib import Path

from lab.node.qdiscs.qdisc_kind import Kind


@cache
def names() -> tuple[str, ...]:
    """List every kind."""
    return tuple(sorted(file.stem for file in Path(__file__).parent.glob("*.py") if file.stem != "__init__"))


@cache
def find(name: str) -> Kind:
    """Return a kind; only its own file is imported, since imports cost time in a virtual kernel."""
    kind: Kind = import_module(f"{__name__}.{name}").KIND
    return kind
