# SPDX-License-Identifier: GPL-2.0-or-later
"""A pytest plugin: a skip that tests/skips.toml does not list fails the session with --strict-skips or CI set.

Elsewhere one line counts such skips by their reason: a machine without recordings or a browser can still run the rest.
"""

import os
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from lab.base.paths import REPO

LIST = REPO / "tests" / "skips.toml"


class Skip(NamedTuple):
    """A test that was skipped, or a whole file; and the reason that pytest shows."""

    node: str
    reason: str

    @property
    def file(self) -> str:
        return self.node.split("::")[0]


class Listed(NamedTuple):
    """A skip that is no failure: every test of `file` with exactly this reason, or only `tests` of it."""

    file: str
    reason: str
    why: str
    tests: tuple[str, ...] = ()

    def allows(self, skip: Skip) -> bool:
        """Return whether a skip is this one."""
        named = not self.tests or skip.node.removeprefix(f"{self.file}::") in self.tests
        return skip.file == self.file and skip.reason == self.reason and named


def read(file: Path) -> list[Listed]:
    """Read the list."""
    rows = tomllib.loads(file.read_text())["skip"]
    return [Listed(row["file"], row["reason"], row["why"], tuple(row.get("tests", ()))) for row in rows]


def unlisted(skips: Iterable[Skip], listed: list[Listed]) -> list[Skip]:
    """Return the skips that no row of the list allows."""
    return [skip for skip in skips if not any(row.allows(skip) for row in listed)]


def lines(skips: list[Skip], strict: bool) -> list[str]:
    """Format a line for each skip, or one line that counts them by their reason."""
    if strict:
        rule = "must run, or be listed in tests/skips.toml with its reason"
        return [f"{skip.node}: skipped ({skip.reason}): {rule}" for skip in skips]
    reasons = Counter(skip.reason for skip in skips).most_common()
    counted = "; ".join(f"{count} as {reason}" for reason, count in reasons)
    return [f"not run: {len(skips)} tests or files: {counted} (CI=1 requires them)"] if skips else []


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    parser.addoption("--strict-skips", action="store_true", help="an unlisted skip fails the session; so does CI=1")
    parser.addoption("--skips", type=Path, default=LIST, metavar="FILE", help="list of skips that are no failure")


def pytest_configure(config: pytest.Config) -> None:
    """Watch the session; in one process of it, where several share the tests."""
    strict = config.getoption("--strict-skips") or os.environ.get("CI", "") not in ("", "0", "false")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Watch(read(config.getoption("--skips")), strict))


class Watch:
    """Collects the skips of a session and judges them at its end."""

    def __init__(self, listed: list[Listed], strict: bool) -> None:
        self.listed, self.strict = listed, strict
        self.skips: list[Skip] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a test's skip."""
        self._keep(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the skip of a whole file."""
        self._keep(report)

    def _keep(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail") and isinstance(report.longrepr, tuple):
            self.skips.append(Skip(report.nodeid, report.longrepr[2].removeprefix("Skipped: ")))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a strict session that would have passed."""
        if self.strict and session.exitstatus == pytest.ExitCode.OK and unlisted(self.skips, self.listed):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the lines."""
        for line in lines(unlisted(self.skips, self.listed), self.strict):
            terminalreporter.write_line(line, red=self.strict, yellow=not self.strict)
