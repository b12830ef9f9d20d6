# SPDX-License-Identifier: GPL-2.0-or-later
"""The box's checksum, and how acceleration is chosen."""

import json
import subprocess
from pathlib import Path

import pytest
from lab_vm import acceleration, build

from lab.base import paths
from lab.base.cache import DONE
from lab.base.errors import UserError


@pytest.fixture
def box_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    build.folder().mkdir()
    file = build.folder() / build.NAME
    file.write_bytes(b"a disk")
    (build.folder() / "box.json").write_text(json.dumps({"sha256": build._sha256(file), "packages": {"udev": "1"}}))
    (build.folder() / DONE).touch()
    return file


def test_a_whole_box_is_found(box_file: Path) -> None:
    found = build.find()
    assert found
    assert (found.file, found.versions) == (box_file, {"udev": "1"})


def test_a_box_whose_checksum_is_wrong_is_refused(box_file: Path) -> None:
    box_file.write_bytes(b"another disk")
    with pytest.raises(UserError, match=r"search-lab.images.vm: sha256=\w+: must be \w+: remove .* and build it again"):
        build.find()


def test_a_box_that_is_gone_is_refused(box_file: Path) -> None:
    box_file.unlink()
    with pytest.raises(UserError, match="sha256=missing"):
        build.find()


def test_the_hook_of_the_box_runs_where_the_checkout_cannot_be_read(tmp_path: Path) -> None:
    root, tools = tmp_path / "root", tmp_path / "tools"
    for folder in ("sudoers.d", "ssh/sshd_config.d", "systemd/network", "systemd/system", "apt"):
        (root / "etc" / folder).mkdir(parents=True)
    tools.mkdir()
    (tools / "chroot").write_text("#!/bin/sh\n")  # what it would start is in the real root only
    (tools / "chroot").chmod(0o755)
    option, _, text = build.customize_hook().partition("=")
    assert option == "--customize-hook"
    assert str(paths.REPO) not in text
    env = {"PATH": f"{tools}:/usr/bin:/bin", "VAGRANT_KEY": "ssh-rsa key"}
    subprocess.run(["sh", "-c", text, "exec", str(root)], env=env, cwd="/", check=True)
    assert (root / "etc/hostname").read_text() == "search-lab\n"
    assert (root / "home/vagrant/.ssh/authorized_keys").read_text() == "ssh-rsa key\n"


def test_a_full_disk_is_refused_before_anything_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "FREE_BYTES", 10**18)
    with pytest.raises(UserError, match=r"free_bytes=\d+: must be 10{18} to make the box"):
        build._require_space(tmp_path)


def test_the_user_chooses_how_the_vm_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_ACCEL", "qemu")
    assert acceleration.chosen(Path("no box")) == ("qemu", "LAB_ACCEL is set")
    monkeypatch.setenv("LAB_ACCEL", "xen")
    with pytest.raises(UserError, match="environment: LAB_ACCEL=xen: must be one of kvm, qemu"):
        acceleration.chosen(Path("no box"))


def test_without_kvm_the_vm_is_emulated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LAB_ACCEL", raising=False)
    monkeypatch.setattr(acceleration, "KVM", tmp_path / "kvm")
    assert acceleration.chosen(Path("no box"))[0] == "qemu"


def test_a_boot_that_hangs_is_ended_and_emulation_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LAB_ACCEL", raising=False)
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    monkeypatch.setattr(acceleration, "KVM", tmp_path)  # there, and ours
    monkeypatch.setattr(acceleration, "LIMIT_S", 0.2)
    monkeypatch.setattr(acceleration, "_qemu", lambda _: ["sh", "-c", "echo booting; sleep 60"])
    kind, why = acceleration.chosen(Path("box"))
    assert (kind, "did not reach its login prompt" in why) == ("qemu", True)
    monkeypatch.setattr(acceleration, "_qemu", lambda _: ["false"])
    assert acceleration.chosen(Path("box")) == (kind, why)  # remembered until the machine boots again
