# SPDX-License-Identifier: GPL-2.0-or-later
"""After Ctrl-C the terminal names what goes on, and a real machine is as it was before."""

import io
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lab.backends import real
from lab.backends.backend import Description, Site
from lab.base.ctrl_c import pressed
from lab.base.errors import Interrupted, going_on
from lab.commands import run
from lab.kernel.recipe import Recipe
from lab.runs.options import RunOptions


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C was pressed; nothing is pressed after the test."""
    pressed.set()
    yield
    pressed.clear()


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ImportError, SystemError])
@pytest.mark.usefixtures("ctrl_c")
def test_it_names_the_command_also_where_an_import_was_broken_off(raised: type[BaseException]) -> None:
    with pytest.raises(Interrupted, match=r"^lab report RUN$"), going_on(lambda: "lab report RUN"):
        raise raised


@pytest.mark.usefixtures("ctrl_c")
def test_it_names_none_before_a_run_was_begun() -> None:
    with pytest.raises(KeyboardInterrupt), going_on(lambda: None):
        raise KeyboardInterrupt


def test_an_error_without_ctrl_c_stays_what_it_is() -> None:
    with pytest.raises(ImportError), going_on(lambda: "lab report RUN"):
        raise ImportError


@pytest.fixture
def settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collect the machines that the command waited for; in place of one over ssh, which `make test-vm` has."""
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path))
    machines: list[Any] = []
    kernel = {"kernel_source": "Linux 6.12", "cpu": "2 of a processor"}
    monkeypatch.setattr(run, "real_backend", lambda _choice: "a machine")
    monkeypatch.setattr(real, "alone", lambda _backend: nullcontext())
    site = Site("a machine", Description(kernel, "", {}, {}))  # type: ignore[arg-type]
    monkeypatch.setattr(real, "inspect", lambda *_: site)
    monkeypatch.setattr(real, "settle", machines.append)
    return machines


def interrupt(monkeypatch: pytest.MonkeyPatch, error: type[BaseException]) -> None:
    def pressed(*_: object) -> None:
        raise error

    monkeypatch.setattr(run, "execute", pressed)
    request = run.Request(scenario="engines-agree")
    where = run.Where("host", "netns", Recipe())
    run.run(request, where, RunOptions(1), resume=False, console=Console(file=io.StringIO()))


@pytest.mark.parametrize(("error", "waits"), [(KeyboardInterrupt, True), (ZeroDivisionError, False)])
def test_ctrl_c_waits_for_the_machine_and_an_error_does_not(
    settled: list[Any], monkeypatch: pytest.MonkeyPatch, error: type[BaseException], waits: bool
) -> None:
    with pytest.raises(error):
        interrupt(monkeypatch, error)
    assert settled == ["a machine"] * waits
