# SPDX-License-Identifier: GPL-2.0-or-later
"""pytest-search-lab: each case of a file *.conform.yml is a test.

The file has `sender` (a name, or a file of one's own next to it) and `suite`, or `case`. All its cases run together at
the first test. conftest.py needs one line: pytest_plugins = ["lab_conform.pytest_plugin"].
"""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lab.base.errors import UserError
from lab.base.processes import processors
from lab.schema.load import Strict, parse, read_yaml
from lab_conform.case import Case, chosen
from lab_conform.command import SOURCES, Request, run
from lab_conform.page import figure_path, write_page
from lab_conform.verdict import Verdict

ENDING = ".conform.yml"


class Requested(Strict):
    """The content of a file."""

    sender: str
    suite: str | None = None
    case: str | None = None


class NotConforming(Exception):
    """A case that failed; its text is what pytest shows."""


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "ConformFile | None":
    """Collect the cases of a file."""
    return ConformFile.from_parent(parent, path=file_path) if file_path.name.endswith(ENDING) else None


class ConformFile(pytest.File):
    """A file with a sender and a suite."""

    def collect(self) -> Iterator["CaseItem"]:
        """Yield a test per case."""
        try:
            for case in chosen(self.requested.suite, self.requested.case):
                yield CaseItem.from_parent(self, name=case.name, case=case)
        except UserError as error:
            raise self.CollectError(str(error)) from None

    @cached_property
    def requested(self) -> Requested:
        """Return what the file requests."""
        return parse(Requested, read_yaml(self.path), self.path)

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """Run the cases and write their page."""
        sender = self.requested.sender
        if Path(sender).suffix in SOURCES:
            sender = str(self.path.parent / sender)
        request = Request(sender, self.requested.suite, self.requested.case, workers=processors())
        found = run(request, Console(quiet=True))
        self.folder = request.folder
        write_page(self.folder, found)
        return {each.case.name: each for each in found}


class CaseItem(pytest.Item):
    """One case on the sender."""

    def __init__(self, *, case: Case, **given: Any) -> None:
        super().__init__(**given)
        self.case = case

    def runtest(self) -> None:
        """Fail or skip as the verdict says."""
        file = self.parent
        assert isinstance(file, ConformFile)
        verdict = file.verdicts[self.case.name]
        if verdict.outcome == "not applicable":
            pytest.skip(verdict.reason)
        if verdict.outcome == "failed":
            raise NotConforming(
                "\n".join([*verdict.lines[:3], f"figure: {figure_path(file.folder, verdict) or 'none'}"])
            )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the lines that matter."""
        known = isinstance(excinfo.value, NotConforming | UserError)
        return str(excinfo.value) if known else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return how pytest calls it."""
        return self.case.file, None, f"{self.case.name}: {self.case.title}"
