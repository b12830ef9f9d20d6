# SPDX-License-Identifier: GPL-2.0-or-later
"""Init of the virtual-time kernel: mount, run the trial of /trial/plan.json (or describe a module), power off.

What goes wrong is told in one line in /trial/error.txt; without that file and with node.json the trial is whole.
"""

import ctypes
import json
import os
import sys
import traceback
from pathlib import Path

from lab.node.describe import describe
from lab.node.tools import NodeError, run
from lab.node.trial import Plan, run_trial

TRIAL = Path("/trial")
MOUNTS = (
    ("proc", "/proc"),
    ("sysfs", "/sys"),
    ("tmpfs", "/run"),
    ("tmpfs", "/tmp"),
    ("tracefs", "/sys/kernel/tracing"),
)
LINUX_REBOOT_CMD_POWER_OFF = 0x4321FEDC
LIBC = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Never return: the kernel panics when init does."""
    os.environ["PATH"] = "/usr/sbin:/usr/bin"
    try:
        for kind, target in MOUNTS:
            _mount(kind, target)
        run("ip", "link", "set", "dev", "lo", "up")
        _execute(json.loads((TRIAL / "plan.json").read_text()))
    except NodeError as error:
        (TRIAL / "error.txt").write_text(f"{error}\n")
    except OSError as error:  # a full disk, above all
        (TRIAL / "error.txt").write_text(f"node: {error.filename or TRIAL}: {error.strerror}\n")
    except BaseException:  # nobody else is there to tell of it
        (TRIAL / "error.txt").write_text(f"bug in the node's code: {sys.exc_info()[1]!r}\n")
        (TRIAL / "traceback.txt").write_text(traceback.format_exc())
    os.sync()
    LIBC.reboot(LINUX_REBOOT_CMD_POWER_OFF)


def _execute(plan: Plan) -> None:
    """Run a trial, or where there is no flow in it, describe a module."""
    if plan["flows"]:
        run_trial(plan, TRIAL)
    else:
        (TRIAL / "node.json").write_text(json.dumps(describe(plan["describe"])))


def _mount(kind: str, target: str) -> None:
    """Mount without mount(8): that is setuid, to a user who is not root where another user made the world image."""
    if LIBC.mount(kind.encode(), target.encode(), kind.encode(), 0, None):
        raise NodeError(f"mount {target}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main()
