# SPDX-License-Identifier: GPL-2.0-or-later
"""A case: what a text says, the link and the events that show it, and the checks that decide."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, model_validator

from lab.base.choice import choose
from lab.base.errors import field_error
from lab.base.named_files import require_name, shown
from lab.schema.load import Real, Strict, like, parse, read_yaml
from lab_conform import measures
from lab_conform.events import Link, NotNegative

FOLDER = Path(__file__).parent / "cases"
Text = Annotated[str, Field(min_length=1)]
Document = Annotated[str, like(r"[a-z0-9-]+", "small letters, digits and - only")]
Observable = Literal["packets", "places", "window", "threshold", "states", "exit", "bins", "saved_set", "unpaced"]


class Source(Strict):
    """Where the rule stands."""

    document: Document  # such as rfc9438
    section: Text
    sentence: Annotated[int, Field(ge=1)] | None = None  # of the section, or the step of a list, where it was counted


class Check(Strict):
    """A measure and what it must be."""

    measure: str
    with_: Annotated[dict[str, Any], Field(alias="with")] = {}
    least: Real | None = None
    most: Real | None = None
    equals: str | None = None
    because: Text  # where the bounds come from

    @model_validator(mode="after")
    def _known(self) -> "Check":
        if self.measure not in measures.MEASURES:
            raise ValueError(f"a known measure: {', '.join(sorted(measures.MEASURES))} (not {self.measure})")
        if (self.equals is None) == (self.least is None and self.most is None):
            raise ValueError("a check with least or most, or with equals")
        return self


class Case(Strict):
    """One file of a suite's folder."""

    title: Text
    source: Source
    keyword: Literal["must", "should", "may", "describes"] = "describes"  # of RFC 2119, as the text has it
    needs: list[Observable] = ["packets"]
    replaced_by: list[Document] = []  # a sender that follows one of these has another rule here
    link: Link = Link()
    duration_s: Annotated[int, Field(ge=1, le=60)] = 5
    size_pkts: Annotated[int, Field(ge=1)] | None = (
        None  # the download ends with so many segments, at the latest after duration_s
    )
    workload: dict[str, Any] | None = None
    rival: str | None = None
    rival_start_s: NotNegative = 0.0
    sysctls: dict[str, str] = {}
    params: dict[str, int] = {}  # of the sender's module, above those of its stanza
    checks: Annotated[list[Check], Field(min_length=1)]
    _file: Path = PrivateAttr(default=Path("case"))

    @model_validator(mode="after")
    def _measured(self) -> "Case":
        for check in self.checks:
            if fault := measures.fault(check.measure, check.with_, len(self.link.events)):
                raise ValueError(fault)
        return self

    @property
    def name(self) -> str:
        return f"{self.suite}/{self._file.stem}"

    @property
    def suite(self) -> str:
        return self._file.parent.name

    @property
    def requires(self) -> list[str]:
        """Return what a sender must offer: what the checks need, and what the trial has besides a download alone."""
        return [*self.needs, *(name for name in ("workload", "rival") if getattr(self, name))]

    @property
    def file(self) -> Path:
        return self._file

    @property
    def rule(self) -> str:
        """Return the place in the text that the case is about."""
        sentence = f", sentence {self.source.sentence}" if self.source.sentence else ""
        return f"{self.source.document}, section {self.source.section}{sentence}"


def read_case(file: Path) -> Case:
    """Read one case; UserError has a line for each wrong field."""
    case = parse(Case, read_yaml(file), file)
    case._file = file.absolute()
    require_name(file.stem, file)
    return case


def suites() -> dict[str, list[Path]]:
    """Return the files of each suite."""
    found = {each.name: sorted(each.glob("*.yml")) for each in sorted(FOLDER.iterdir()) if each.is_dir()}
    return {name: files for name, files in found.items() if files}


def chosen(suite: str | None, case: str | None) -> list[Case]:
    """Return the cases of a suite, or one by its name or file; without both all."""
    if case and Path(case).suffix == ".yml":
        return [read_case(Path(case))]
    known = suites()
    names = [choose("suite", suite, list(known), "command line", "suite")] if suite else list(known)
    cases = [read_case(file) for name in names for file in known[name]]
    if case is None:
        return cases
    found = [each for each in cases if case in (each.name, each.file.stem)]
    if not found:
        raise field_error(
            "command line", "case", case, f"a case of {', '.join(names)}, or a file {shown(Path('CASE.yml'))}"
        )
    return found
