# SPDX-License-Identifier: GPL-2.0-or-later
"""Small files of the kernel's, and the settings of a node that are read and written with them."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from lab.node.net import netns, sysctl
from lab.node.system import small_file
from lab.node.system.tools import NodeError


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel's settings: one that is there."""
    (tmp_path / "net/ipv4").mkdir(parents=True)
    (tmp_path / "net/ipv4/tcp_rmem").write_text("4096\t131072\t6291456\n")
    monkeypatch.setattr(sysctl, "PROC", tmp_path)
    return tmp_path


def test_a_file_is_read_whole_and_replaced_whole_but_not_made(tmp_path: Path) -> None:
    for text in ("", "1\n", "a line\n" * 50_000):
        (tmp_path / "file").write_text(text)
        assert small_file.read(tmp_path / "file") == text
    (tmp_path / "file").write_text("a longer text")
    small_file.write(tmp_path / "file", "1")
    assert (tmp_path / "file").read_text() == "1"
    with pytest.raises(FileNotFoundError):
        small_file.write(tmp_path / "other", "1")
    assert not (tmp_path / "other").exists()


def test_a_setting_is_written_and_read_back_whatever_stands_between_its_values(proc: Path) -> None:
    assert sysctl.read(None, ["net.ipv4.tcp_rmem"]) == {"net.ipv4.tcp_rmem": "4096 131072 6291456"}
    sysctl.pin(None, {"net.ipv4.tcp_rmem": "1 2  3"})
    assert (proc / "net/ipv4/tcp_rmem").read_text() == "1 2  3"


@pytest.mark.usefixtures("proc")
def test_a_setting_that_does_not_take_is_refused_and_one_that_is_absent_named(monkeypatch: pytest.MonkeyPatch) -> None:
    message = r"^kernel: net\.ipv4\.nosuch: must be one of this kernel's settings$"
    with pytest.raises(NodeError, match=message):
        sysctl.write("net.ipv4.nosuch", "1")
    with pytest.raises(NodeError, match=message):
        sysctl.read(None, ["net.ipv4.nosuch"])
    monkeypatch.setattr(small_file, "write", lambda _file, _text: None)
    with pytest.raises(NodeError, match=r"^kernel: net\.ipv4\.tcp_rmem=4096 131072 6291456: must be 1 2 3$"):
        sysctl.pin(None, {"net.ipv4.tcp_rmem": "1 2 3"})


def test_the_settings_a_node_begins_with_are_written_first(proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(netns, "entered", lambda _node: nullcontext())
    later = ["ip address add 10.0.0.1/24 dev eth1", "sysctl -q -w net.ipv4.nosuch=1"]
    assert netns._set_first("gateway", ["sysctl -q -w net.ipv4.tcp_rmem=7", *later]) == later
    assert (proc / "net/ipv4/tcp_rmem").read_text() == "7"
