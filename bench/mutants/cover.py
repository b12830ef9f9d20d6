# SPDX-License-Identifier: GPL-2.0-or-later
# ruff: noqa: D102 (hooks of pytest)
"""A plugin of pytest: which test executes which lines of lab/, and for how long, as the JSON file MUTANTS_COVER."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

OWN = ["bench/mutants/*"]
BEFORE = ""  # the context of lines that run before the tests' own file is imported


class Recorder:
    """Gives coverage one context per test, and one per file of tests for what its tests share: imports and fixtures."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.seconds: dict[str, float] = {}
        self.coverage = coverage.Coverage(data_file=None, source=["lab", "tests"], omit=OWN, config_file=False)
        self.coverage.start()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        self.coverage.switch_context(collector.nodeid if isinstance(collector, pytest.Module) else BEFORE)
        done = yield
        self.coverage.switch_context(BEFORE)
        return done

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        begun_s = _cpu_s()
        self.coverage.switch_context(item.nodeid.split("::")[0])
        done = yield
        self.seconds[item.nodeid] = _cpu_s() - begun_s
        return done

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        self.coverage.switch_context(item.nodeid)
        yield
        self.coverage.switch_context(item.nodeid.split("::")[0])

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        data, here = self.coverage.get_data(), Path.cwd()
        files = {str(Path(file).relative_to(here)): data.contexts_by_lineno(file) for file in data.measured_files()}
        lines = {name: {line: by for line, by in of.items() if by != [BEFORE]} for name, of in files.items() if of}
        self.file.write_text(json.dumps({"lines": lines, "seconds": self.seconds}))


def _cpu_s() -> float:
    """Return the time of the processor that this process and those that it has waited for took."""
    return sum(os.times()[:4])


def pytest_configure(config: pytest.Config) -> None:
    """Begin to record where the worker wants it."""
    if file := os.environ.get("MUTANTS_COVER"):
        config.pluginmanager.register(Recorder(Path(file)))
