# SPDX-License-Identifier: GPL-2.0-or-later
"""The backend `host`: the running kernel of this machine, as root, in real time."""

import json
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lab.backends import records
from lab.backends.guest_code import root_of
from lab.base.errors import UserError
from lab.base.host_tool import end_group, ended, in_memory, run_tool, too_much
from lab.node.plan import Plan
from lab_vm.real_time import RealTime, patience_s, require_records

PYTHON = "/usr/bin/python3"  # the system's: Mininet is a package of it
TRANSFER_S = 300.0
SELDOM_S = 0.2  # to look at a node: a trial in real time needs the processors
CLEANUP_S = 60.0  # for a node to take down what it brought up, from the end of its standard input on


@dataclass(frozen=True)
class Host(RealTime):
    """This machine."""

    kind: ClassVar[str] = "host"

    def run_plan(self, plan: Plan, folder: Path) -> None:
        """Execute a plan; the node ends and cleans up at the end of its standard input."""
        (folder / "plan.json").write_text(json.dumps(plan))
        with tempfile.TemporaryDirectory(prefix="search-lab-", dir="/var/tmp") as place:
            work = Path(place) / "trial"  # dumpcap gives up root's right to enter any folder, such as a user's home
            Path(place).chmod(0o755)
            shutil.copytree(folder, work)
            output = attended(as_root("lab_vm.node.host", str(work)), patience_s(plan), "host")
            if os.geteuid():
                run_tool("sudo", "-n", "chown", "-R", f"{os.geteuid()}:{os.getegid()}", place, limit_s=TRANSFER_S)
            records.take(work, folder, records.most_bytes(plan))
        require_records(folder, "host", output)

    def call(self, *arguments: str) -> str:
        """Run a module as root and return its output; UserError if it fails."""
        return answer_of("host", *as_root(*arguments))


def answer_of(where: str, *command: str) -> str:
    """Run a short command and return its output; UserError with its last line if it fails, or takes too long."""
    done = ended(run_tool(*command, limit_s=TRANSFER_S))
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise UserError(f"{where}: {(lines or ['no answer'])[-1]}")
    return done.stdout.decode(errors="replace")


def as_root(module: str, *arguments: str) -> list[str]:
    """Build a command of the system's Python, run by root: a module that imports lab.node, lab_vm.node and its own."""
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    folders = dict.fromkeys(str(root_of(name)) for name in ("lab", "lab_vm", module))
    return [*sudo, "env", f"PYTHONPATH={':'.join(folders)}", PYTHON, "-m", module, *arguments]


def attended(command: list[str], limit_s: float, where: str) -> str:
    """Run a node's command and return its output; it ends with this process, which holds its standard input open."""
    with in_memory() as output:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        assert process.stdin
        try:
            late = too_much(process, (output,), limit_s, SELDOM_S)
        finally:
            process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(CLEANUP_S)
            end_group(process)
        if late:
            raise records.TrialError(f"{where}: {late}")
        output.seek(0)
        return output.read().decode(errors="replace")
