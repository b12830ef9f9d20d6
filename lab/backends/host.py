# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the kernel runs, `host`: the running kernel, as root, in real time."""

import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lab.backends.boot import TrialError
from lab.backends.place import in_real_time, patience_s, require_records
from lab.base import paths
from lab.base.errors import UserError
from lab.node.plan import Plan

PYTHON = "/usr/bin/python3"  # the system's: Mininet is a package of it


@dataclass(frozen=True)
class Host:
    """This machine."""

    engine: str
    backend: str = "host"

    def worded(self, plan: Plan) -> Plan:
        """Return a plan for real time."""
        return in_real_time(plan, self.engine)

    def run_plan(self, plan: Plan, folder: Path) -> None:
        """Execute a plan; the node ends, and cleans up, when its standard input does."""
        (folder / "plan.json").write_text(json.dumps(plan))
        with tempfile.TemporaryDirectory(prefix="search-lab-", dir="/var/tmp") as place:
            work = Path(place) / "trial"  # dumpcap gives up root's right to enter any folder, such as a user's home
            Path(place).chmod(0o755)
            shutil.copytree(folder, work)
            said = attended(as_root("-m", "lab.node.host", str(work)), patience_s(plan), "host")
            if os.geteuid():
                subprocess.run(["sudo", "-n", "chown", "-R", f"{os.geteuid()}:{os.getegid()}", place], check=False)
            shutil.copytree(work, folder, dirs_exist_ok=True)
        require_records(folder, "host", said)

    def ask(self, *words: str) -> str:
        """Run a module of lab.node as root and return what it printed."""
        done = subprocess.run(as_root("-m", *words), capture_output=True, text=True, check=False)
        if done.returncode:
            raise UserError(f"host: {(done.stderr.strip().splitlines() or ['no answer'])[-1]}")
        return done.stdout


def as_root(*words: str) -> list[str]:
    """Word a command of the system's Python with the lab's node code, run by root."""
    raised = [] if os.geteuid() == 0 else ["sudo", "-n"]
    return [*raised, "env", f"PYTHONPATH={paths.REPO}", PYTHON, *words]


def attended(command: list[str], limit_s: float, where: str) -> str:
    """Run a node's command that ends when we do: we hold its standard input open. Returns what it printed."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            process.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise TrialError(f"{where}: no end after {limit_s:.0f} s") from None
        finally:
            process.stdin.close()
        return process.stdout.read()
