# SPDX-License-Identifier: GPL-2.0-or-later
"""Init of the virtual-time kernel: mount, execute /trial/plan.json, power off.

The plan is a trial, the work of a package, or a call of one function. An error is one line in /trial/error.txt. Without
that file the work is done, and its result is node.json (of a call: answer.json). Several trials have a folder each
below /trial, with their own plan, error and result.
"""

import ctypes
import importlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.node.net import route
from lab.node.net.netlink import Netlink
from lab.node.system import small_file
from lab.node.system.failure import errors_stored
from lab.node.system.libc import LIBC
from lab.node.system.tools import NodeError

if TYPE_CHECKING:
    from lab.node.plan import Call, Plan


TRIAL = Path("/trial")
WORK = {
    "trial": "lab.node.trial.run_trial",
    "workload": "lab.node.workload.run_trial",
}
MOUNTS = (
    ("proc", "/proc"),
    ("sysfs", "/sys"),
    ("devtmpfs", "/dev"),
    ("tmpfs", "/run"),
    ("tmpfs", "/tmp"),
    ("tracefs", "/sys/kernel/tracing"),
)
BEGINS = "search-lab begins "  # on the console, before the name of each of several plans
LINUX_REBOOT_CMD_POWER_OFF = 0x4321FEDC
SOFTIRQS = "ksoftirqd/0"
NEIGHBOURS = "ipv?/neigh/default"
NEVER_MS = 20 * 24 * 3600 * 1000


def main() -> None:
    """Never return: the kernel panics when init does."""
    os.environ["PATH"] = "/usr/sbin:/usr/bin"
    with errors_stored(TRIAL):
        for kind, target in MOUNTS:
            mount(kind, target)
        keep_steady()
        with Netlink("lo") as link:
            route.bring_up(link, "lo")
        _do(json.loads((TRIAL / "plan.json").read_text()))
    os.sync()
    LIBC.reboot(LINUX_REBOOT_CMD_POWER_OFF)


def _do(content: Any) -> None:
    """Do what plan.json holds: a Plan, a CallPlan, or the names of folders with a Plan each."""
    if "call" in content:
        _call(content["call"])
    elif "several" in content:
        all(_done(TRIAL / name) for name in content["several"])
    else:
        _work(content, TRIAL)


def _done(folder: Path) -> bool:
    """Do one of several plans; none follows one that failed, which may have left anything behind."""
    print(f"{BEGINS}{folder.name}", flush=True)
    with errors_stored(folder):
        _work(json.loads(small_file.read(folder / "plan.json")), folder)
    return not (folder / "error.txt").exists()


def _work(plan: "Plan", folder: Path) -> None:
    work = plan.get("work", "trial")
    module, _, function = WORK.get(work, work).rpartition(".")
    getattr(importlib.import_module(module), function)(plan, folder)


def _call(call: "Call") -> None:
    answer = getattr(importlib.import_module(call["module"]), call["function"])(**call["arguments"])
    (TRIAL / "answer.json").write_text(json.dumps(answer))


def mount(kind: str, target: str) -> None:
    """Attach a file system without the tool: it is setuid to the user who made the world image, who may not be root."""
    if LIBC.mount(kind.encode(), target.encode(), kind.encode(), 0, None):
        raise NodeError(f"mount {target}: {os.strerror(ctypes.get_errno())}")


def keep_steady() -> None:
    """Set what would make the kernel's work in a trial depend on the trials before it.

    Softirqs that the kernel puts off go before programs: the scheduler chooses between two ordinary threads by what
    each has done so far, and a program that is first reads the clock before a packet goes on. The kernel goes through
    its tables of neighbours once more at most, instead of every 15 s from its boot on.
    """
    names = (each for each in Path("/proc").glob("[0-9]*/comm") if each.read_text().strip() == SOFTIRQS)
    os.sched_setscheduler(int(next(names).parent.name), os.SCHED_FIFO, os.sched_param(1))
    for table in Path("/proc/sys/net").glob(NEIGHBOURS):
        (table / "base_reachable_time_ms").write_text(str(NEVER_MS))


if __name__ == "__main__":
    main()
