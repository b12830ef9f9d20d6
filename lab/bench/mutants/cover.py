# SPDX-License-Identifier: GPL-2.0-or-later
# ruff: noqa: D102 (hooks of pytest)
"""A plugin of pytest: which test executes which lines of lab/, and how long, as the JSON file MUTANTS_COVER."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

AT_IMPORT = ""  # the context of lines that run before a test


class Recorder:
    """Gives coverage one context per test, and one per file of tests for fixtures, which others of the file share."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.seconds: dict[str, float] = {}
        self.coverage = coverage.Coverage(data_file=None, source=["lab", "tests"], config_file=False)
        self.coverage.start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.coverage.switch_context(item.nodeid.split("::")[0])

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        self.coverage.switch_context(item.nodeid)
        yield
        self.coverage.switch_context(item.nodeid.split("::")[0])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        data, here = self.coverage.get_data(), Path.cwd()
        files = {str(Path(file).relative_to(here)): data.contexts_by_lineno(file) for file in data.measured_files()}
        lines = {name: {line: by for line, by in of.items() if by != [AT_IMPORT]} for name, of in files.items() if of}
        self.file.write_text(json.dumps({"lines": lines, "seconds": self.seconds}))


def pytest_configure(config: pytest.Config) -> None:
    """Begin to record where the worker wants it."""
    if file := os.environ.get("MUTANTS_COVER"):
        config.pluginmanager.register(Recorder(Path(file)))
