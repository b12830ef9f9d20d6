# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether KVM works here, tried by a real boot with a time limit: that /dev/kvm exists proves nothing."""

import json
import os
import tarfile
from pathlib import Path

from lab.base import paths
from lab.base.errors import field_error
from lab.base.host_tool import run_tool

LIMIT_S = 60
PATIENCE = "login:"
KVM = Path("/dev/kvm")
BOOT = Path("/proc/sys/kernel/random/boot_id")  # what was found holds until the machine boots again
KINDS = ("kvm", "qemu")


def chosen(box: Path) -> tuple[str, str]:
    """Return (kvm or qemu, why)."""
    requested = os.environ.get("LAB_ACCEL")
    if requested:
        if requested not in KINDS:
            raise field_error("environment", "LAB_ACCEL", requested, f"one of {', '.join(KINDS)}")
        return requested, "LAB_ACCEL is set"
    if not os.access(KVM, os.R_OK | os.W_OK):
        return "qemu", f"{KVM} is not there, or not yours to use"
    return _remembered() or _remember(*_tried(box))


def _tried(box: Path) -> tuple[str, str]:
    """Boot the box's disk, where it lies in the box, and wait for its login prompt."""
    done = run_tool(*_qemu(box), limit_s=LIMIT_S)
    if PATIENCE.encode() in done.stdout:
        return "kvm", f"a boot with {KVM} reached its login prompt"
    last = (done.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
    how = "did not reach its login prompt" if done.returncode < 0 else "ended"
    return "qemu", f"a boot with {KVM} {how}: {last}"


def _qemu(box: Path) -> list[str]:
    with tarfile.open(box) as tar:
        offset = tar.getmember("box.img").offset_data
    disk = {
        "driver": "qcow2",
        "file": {"driver": "raw", "offset": offset, "file": {"driver": "file", "filename": str(box)}},
    }
    machine = "-accel kvm -cpu host -smp 1 -m 1024 -display none -serial stdio -monitor none -nic none -snapshot"
    shown = json.dumps(disk).replace(",", ",,")  # a comma ends an option
    return ["qemu-system-x86_64", *machine.split(), "-drive", f"if=virtio,file=json:{shown}"]


def _file() -> Path:
    return paths.cache() / "acceleration.json"


def _remembered() -> tuple[str, str] | None:
    if not _file().exists():
        return None
    stored = json.loads(_file().read_text())
    return (stored["kind"], stored["why"]) if stored["boot"] == BOOT.read_text().strip() else None


def _remember(kind: str, why: str) -> tuple[str, str]:
    _file().write_text(json.dumps({"boot": BOOT.read_text().strip(), "kind": kind, "why": why}))
    return kind, why
