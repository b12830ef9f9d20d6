# SPDX-License-Identifier: GPL-2.0-or-later
"""The VM's state as Vagrant reports it: whether it is up, and how ssh reaches it."""

import os
import shutil
import subprocess
from pathlib import Path

from lab.base import paths

NAME = "lab"
FOLDER = paths.REPO / ".vagrant"


def is_up() -> bool:
    """Return whether the VM is up; quick if it was never created."""
    return ssh_config() is not None


def ssh_config() -> Path | None:
    """Return a configuration with which ssh reaches the VM, or None if it is not up."""
    created = any(FOLDER.glob(f"machines/{NAME}/*/id"))
    if not created or not shutil.which("vagrant"):
        return None
    quiet = os.environ | {"VAGRANT_CHECKPOINT_DISABLE": "1"}  # it looks for updates otherwise
    command = ["vagrant", "ssh-config", NAME]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.REPO, env=quiet)
    if done.returncode:
        return None
    file = FOLDER / "ssh-config"
    file.write_text(done.stdout)
    return file
