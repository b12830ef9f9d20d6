# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings: one stanza of datasets.yml for those that share an origin and a licence."""

from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, RootModel, model_validator

from lab.schema.load import Real, Strict, like

Meaning = Literal["capacity", "goodput", "usage", "rate", "rtt", "delay", "loss", "acks"]
NO_LICENCE = "none"


def _inside(path: str) -> str:
    """Refuse a path that leads out of its folder."""
    if not path or path != PurePosixPath(path).as_posix() or path[0] in "./" or ".." in PurePosixPath(path).parts:
        raise ValueError("a path that stays in its folder")
    return path


Text = Annotated[str, Field(min_length=1)]
Inside = Annotated[str, AfterValidator(_inside)]
Bytes = Annotated[int, Field(ge=1)]
Sha256 = Annotated[str, like("[0-9a-f]{64}", "64 digits of 0-9 and a-f")]


class Document(Strict):
    """A licence text or read-me file of the origin."""

    path: Inside
    bytes: Bytes
    sha256: Sha256


class Description(Strict):
    """The description of a recording; a field that is missing is taken from its file, then from its collection."""

    recorded: Annotated[list[Meaning], Field(min_length=1)] | None = None
    holds: Text | None = None
    length_s: Annotated[Real, Field(gt=0)] | None = None
    options: dict[str, str | int | float] = {}  # of its importer; a file's name stands for that file of the collection


class File(Description):
    """One file: a recording, or several in parts, each with options of its own."""

    bytes: Bytes
    sha256: Sha256
    path: Inside | None = None
    format: str | None = None
    parts: dict[Inside, Description] = {}
    whole: bool = True  # the file is also a recording as a whole


class Origin(Strict):
    """A public repository at one commit, and the licence of what is taken from it."""

    repository: Annotated[str, like(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+", "owner/name of a GitHub repository")]
    commit: Annotated[str, like("[0-9a-f]{40}", "40 digits of 0-9 and a-f")]
    licence: Text
    attribution: Text

    @property
    def may_be_passed_on(self) -> bool:
        """Return whether a licence allows it."""
        return self.licence != NO_LICENCE

    @property
    def terms(self) -> str:
        """Return the licence, or the meaning of its absence."""
        return self.licence if self.may_be_passed_on else "no licence (for your own use, cannot be passed on)"


class Collection(Origin):
    """Recordings that share an origin and a licence."""

    link: Text
    archive: Annotated[Inside, like(r"(?s:.*)\.zip", "a path that ends in .zip")] | None = None
    path: Inside | None = None
    recorded: Annotated[list[Meaning], Field(min_length=1)] | None = None
    holds: Text | None = None
    options: dict[str, str | int | float] = {}
    files: Annotated[dict[Inside, File], Field(min_length=1)]
    documents: dict[Inside, Document]

    @model_validator(mode="after")
    def _is_complete(self) -> "Collection":
        for name, file in self.files.items():
            for field in ("path", "recorded", "holds"):
                if getattr(file, field) is None and getattr(self, field) is None:
                    raise ValueError(f"a collection that gives '{field}' for {name}")
            if not (file.whole or file.parts):
                raise ValueError(f"a collection that names the parts of {name}, which is none as a whole")
        return self


class Collections(RootModel[dict[Inside, Collection]]):
    """All of datasets.yml."""

    model_config = ConfigDict(strict=True, frozen=True)
