# SPDX-License-Identifier: GPL-2.0-or-later
"""What Vagrant knows of the VM: whether it is up, and how ssh reaches it."""

import os
import shutil
import subprocess
from pathlib import Path

from lab.base import paths

NAME = "lab"
FOLDER = paths.REPO / ".vagrant"


def is_up() -> bool:
    """Tell whether the VM is up; quick where it was never made."""
    return ssh_config() is not None


def ssh_config() -> Path | None:
    """Return a configuration for ssh to reach the VM with, or none where it is not up."""
    made = any(FOLDER.glob(f"machines/{NAME}/*/id"))
    if not made or not shutil.which("vagrant"):
        return None
    done = subprocess.run(
        ["vagrant", "ssh-config", NAME], capture_output=True, text=True, check=False, cwd=paths.REPO, env=_quiet()
    )
    if done.returncode:
        return None
    file = FOLDER / "ssh-config"
    file.write_text(done.stdout)
    return file


def _quiet() -> dict[str, str]:
    """The box's own tools are told once, at `up`: asking how to reach a machine makes nothing."""
    return os.environ | {"VAGRANT_CHECKPOINT_DISABLE": "1"}
