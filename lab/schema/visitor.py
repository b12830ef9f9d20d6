# SPDX-License-Identifier: GPL-2.0-or-later
"""Visitors: senders that others wrote, one file of lab/visitors each; their code is fetched, never part of the lab."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from lab.base.errors import field_error
from lab.base.paths import VISITORS, with_own
from lab.schema.cca import CAUSE, cca_names
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
    needs: Text | None = None  # why it cannot be built on the default kernel
    algorithm: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,15}$")]
    params: dict[str, int] = {}
    allocates_bytes: Annotated[int, Field(ge=0)] = 0
    qdisc: Literal["fq"] | None = None
    slow_start_exit: Annotated[str, Field(pattern=CAUSE)]
    exit_label: Text
    exit_enters_cwr: bool = False

    @property
    def module_file(self) -> str:
        """Return the name of the C file that is built; a visitor with `needs` may have none."""
        return next(name for name in self.files if name.endswith(".c"))

    @model_validator(mode="after")
    def _is_one_module(self) -> "Visitor":
        sources = [name for name in self.files if name.endswith(".c")]
        if self.needs is None and len(sources) != 1:
            raise ValueError(f"a visitor of one .c file, not {len(sources)}, or one with 'needs'")
        for edit in self.edits:
            if edit.file not in self.files:
                raise ValueError(f"a visitor whose edits name its files: {edit.file} is none")
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
