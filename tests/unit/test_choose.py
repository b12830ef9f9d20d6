# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a run goes, and who is refused."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.backends import choose, vagrant
from lab.base.errors import UserError
from lab.node.system.exclusive import held_alone
from lab.node.system.tools import NodeError


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAB_BACKEND", raising=False)


@pytest.fixture
def up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vagrant, "is_up", lambda: True)


@pytest.fixture
def down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vagrant, "ssh_config", lambda: None)


@pytest.mark.usefixtures("down")
def test_without_a_vm_the_virtual_kernel_is_usual_and_a_vm_that_is_requested_named() -> None:
    assert choose.choose(None, None).line == "backend virtual, engine netns"
    with pytest.raises(UserError, match="vm: not up: run 'vagrant up'"):
        choose.real_backend(choose.choose("vm", None))


@pytest.mark.usefixtures("up")
def test_a_vm_that_is_up_is_used_with_containerlab_unless_something_else_is_requested() -> None:
    chosen = choose.choose(None, None)
    assert (chosen.line, chosen.reason) == ("backend vm, engine containerlab", "the VM is up")
    assert choose.choose("virtual", None).backend == "virtual"
    assert choose.choose("host", "mininet").line == "backend host, engine mininet"


@pytest.mark.usefixtures("down")
@pytest.mark.parametrize(
    ("backend", "engine", "message"),
    [
        ("cloud", None, "command line: backend=cloud: must be one of virtual, host, vm"),
        (None, "docker", "command line: engine=docker: must be one of netns, containerlab, mininet"),
        ("virtual", "mininet", "command line: engine=mininet: must be netns in the virtual kernel"),
        (None, "mininet", "command line: engine=mininet: must be netns without a VM"),
    ],
)
def test_what_does_not_go_together_is_refused(backend: str | None, engine: str | None, message: str) -> None:
    with pytest.raises(UserError, match=message):
        choose.choose(backend, engine)


@pytest.mark.usefixtures("up")
def test_the_environment_decides_where_the_command_line_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_BACKEND", "virtual")
    assert choose.choose(None, None).reason == "set by LAB_BACKEND"
    assert choose.choose("host", None).reason == "as requested"
    monkeypatch.setenv("LAB_BACKEND", "cloud")
    with pytest.raises(UserError, match="environment: backend=cloud: must be one of"):
        choose.choose(None, None)


@pytest.fixture
def other(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process that holds the lock."""
    holding = "import sys, time; from pathlib import Path; from lab.node.system.exclusive import held_alone\n"
    holding += "with held_alone(Path(sys.argv[1]), \"'lab run geo' of ann\"): print('held', flush=True); time.sleep(60)"
    command = [sys.executable, "-c", holding, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.mark.usefixtures("other")
def test_a_second_holder_is_refused_with_the_name_of_the_first(tmp_path: Path) -> None:
    with (
        pytest.raises(NodeError, match="lock: held by 'lab run geo' of ann: wait for it"),
        held_alone(tmp_path / "lock", "me"),
    ):
        pass


def test_a_killed_holder_holds_nothing(tmp_path: Path, other: "subprocess.Popen[str]") -> None:
    other.kill()
    other.wait()
    with held_alone(tmp_path / "lock", "me"):
        assert (tmp_path / "lock").read_text() == "me"
