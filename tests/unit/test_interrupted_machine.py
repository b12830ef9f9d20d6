# SPDX-License-Identifier: GPL-2.0-or-later
"""Ctrl-C during a trial on a real machine: the command ends when that machine is as it was before."""

import io
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lab.backends import real
from lab.backends.backend import Description, Site
from lab.commands import run
from lab.kernel.recipe import Recipe
from lab.runs.options import RunOptions


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
