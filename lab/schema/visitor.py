# SPDX-License-Identifier: GPL-2.0-or-later
"""Visitors: senders that others wrote, one file of lab/visitors each; their code is fetched, never part of the lab."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from lab.base.errors import field_error
from lab.base.paths import VISITORS, with_own
from lab.schema.cca import CAUSE, Cca, FirstWindow, Stanza, cca_names, load_cca, load_senders, looks
from lab.schema.dataset import Document, Origin, Text
from lab.schema.load import Strict, by_name, load, require_name, shown

FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")]


class Edit(Strict):
    """One replacement in a fetched file; the text to find stands there exactly once."""

    file: FileName
    find: Text
    replace: str
    why: Text


class Visitor(Origin):
    """A sender of somebody else: where its code is, what makes it build on the default kernel, and how it runs."""

    label: Text
    slow_start: Text  # what it does there, as a sentence
    files: Annotated[dict[FileName, Document], Field(min_length=1)]  # by the name that the lab gives them
    edits: list[Edit] = []
    needs: Text | None = None  # why the lab does not build it
    kernel: Literal["visitors"] | None = None  # the one it runs on: default, or the one with larger sockets
    core_patches: list[FileName] = []  # files that change that kernel's TCP core, in this order
    module: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")] | None = None  # of that kernel, where no file is a .c
    algorithm: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,15}$")]
    params: dict[str, int] = {}
    allocates_bytes: Annotated[int, Field(ge=0)] = 0
    qdisc: Literal["fq"] | None = None
    first_window_pkts: FirstWindow | None = None  # of the receiver
    slow_start_exit: Annotated[str, Field(pattern=CAUSE)]
    exit_label: Text
    exit_enters_cwr: bool = False

    @property
    def module_file(self) -> str:
        """Return the name of the C file that is built; one with `needs` or with `core_patches` may have none."""
        return next(name for name in self.files if name.endswith(".c"))

    @property
    def is_module(self) -> bool:
        """Return whether it is a module to build; else its sender is part of a kernel that its patches change."""
        return any(name.endswith(".c") for name in self.files)

    @model_validator(mode="after")
    def _is_one_module(self) -> "Visitor":
        sources = [name for name in self.files if name.endswith(".c")]
        if self.needs is None and len(sources) != 1 and not (self.core_patches and not sources):
            raise ValueError(f"a visitor of one .c file, not {len(sources)}, or one with 'needs'")
        if sources and self.module:
            raise ValueError(f"a visitor without 'module': {sources[0]} is built")
        return self

    @model_validator(mode="after")
    def _names_its_files(self) -> "Visitor":
        for field, names in (("edits", [edit.file for edit in self.edits]), ("core_patches", self.core_patches)):
            for name in names:
                if name not in self.files:
                    raise ValueError(f"a visitor whose {field} name its files: {name} is none")
        if self.core_patches and self.kernel is None:
            raise ValueError("a visitor with 'kernel: visitors', since core_patches change no other kernel")
        return self


def visitor_files() -> dict[str, Path]:
    """Return each visitor's file by the visitor's name, those in the folder LAB_VISITORS included."""
    files = [file for folder in with_own(VISITORS, "LAB_VISITORS") for file in sorted(folder.glob("*.yml"))]
    return by_name(files, lambda file: require_name(file.stem, file))


def load_visitors() -> dict[str, Visitor]:
    """Read every visitor, by name; UserError where the lab has a sender of that name."""
    found = {}
    for name, file in visitor_files().items():
        if name in cca_names():
            raise field_error(shown(file), "name", name, "another name: lab/cca.yml has it")
        found[name] = load(Visitor, file)
    return found


def visitor_senders() -> dict[str, Cca]:
    """Return each visitor as a sender whose module is not built; none looks like another, or like one of the lab's.

    Those of LAB_VISITORS come last: they change no other's look, which is part of a sender's digest.
    """
    free, files = looks({cca.look for cca in load_senders().values()}), visitor_files()
    known = sorted(load_visitors().items(), key=lambda each: files[each[0]].parent != VISITORS)
    return {name: _sender(name, visitor, next(free)) for name, visitor in known}


def load_sender(name: str, named_in: str, field: str, known: Mapping[str, Cca] | None = None) -> Cca:
    """Return one sender that a file names: of the lab, or a visitor; `known` holds those to choose from instead."""
    if known is None and name in visitor_files():
        return visitor_senders()[name]
    return load_cca(name, named_in, field, known)


def _sender(name: str, visitor: Visitor, look: Stanza) -> Cca:
    return Cca(
        name=name,
        label=visitor.label,
        algorithm=visitor.algorithm,
        module=visitor.module_file.removesuffix(".c") if visitor.is_module else visitor.module,
        params=visitor.params,
        allocates_bytes=visitor.allocates_bytes,
        qdisc=visitor.qdisc,
        first_window_pkts=visitor.first_window_pkts,
        slow_start_exit=visitor.slow_start_exit,
        exit_label=visitor.exit_label,
        exit_enters_cwr=visitor.exit_enters_cwr,
        **look,
    )
