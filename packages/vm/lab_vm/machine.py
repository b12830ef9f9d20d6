# SPDX-License-Identifier: GPL-2.0-or-later
"""The backend `vm`: a machine reached over ssh, started by Vagrant or provisioned by the user.

It receives the node's code and a trial's plan, and returns raw records, which are decoded, judged and stored here. So
a slow or lost machine costs one trial and no more.
"""

import json
import os
import shlex
import shutil
import subprocess
import tarfile
import tempfile
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import ClassVar

from lab.backends.guest_code import package_of, sources
from lab.backends.records import LEAST_BYTES, TrialError, most_bytes, take_tar
from lab.base import paths
from lab.base.errors import UserError
from lab.base.host_tool import ended, in_memory, run_tool
from lab.base.plain_file import write_whole
from lab.node.plan import Plan
from lab_vm.host import TRANSFER_S, answer_of, attended
from lab_vm.real_time import RealTime, patience_s, require_records

NAME = "lab"
FOLDER = paths.REPO / ".vagrant"
PLACE = "/var/tmp"
SSH_FAILED = 255
FETCH_S = 3600.0  # for records, which are larger than what is sent; ssh itself ends where the machine is silent
OPTIONS = {
    "BatchMode": "yes",
    "ConnectTimeout": "20",
    "ServerAliveInterval": "10",
    "ServerAliveCountMax": "6",
    "ControlMaster": "auto",
    "ControlPersist": "60",
    "LogLevel": "ERROR",
}


def is_up() -> bool:
    """Return whether the VM is up; quick if it was never created."""
    return ssh_config() is not None


def ssh_config() -> Path | None:
    """Return a configuration with which ssh reaches the VM, or None if it is not up; UserError if Vagrant hangs."""
    created = any(FOLDER.glob(f"machines/{NAME}/*/id"))
    if not created or not shutil.which("vagrant"):
        return None
    of_vagrant = {"VAGRANT_CHECKPOINT_DISABLE": "1", "VAGRANT_CWD": str(paths.REPO)}  # it looks for updates otherwise
    done = ended(run_tool("vagrant", "ssh-config", NAME, environment=os.environ | of_vagrant))
    return None if done.returncode else write_whole(FOLDER / "ssh-config", done.stdout)


@dataclass(frozen=True)
class Machine(RealTime):
    """A machine that ssh reaches by `name`, with the options of a configuration file if there is one."""

    kind: ClassVar[str] = "vm"
    name: str
    ssh_config: Path | None = None

    def run_plan(self, plan: Plan, folder: Path) -> None:
        """Send a plan, execute it there, and fetch its raw records."""
        (folder / "plan.json").write_text(json.dumps(plan))
        output = self.execute("lab_vm.node.host", folder, patience_s(plan), most_bytes(plan))
        require_records(folder, self.name, output)

    def execute(self, module: str, folder: Path, limit_s: float, most: int = LEAST_BYTES) -> str:
        """Send a folder, run a module on it as root, fetch it back, and return the output."""
        there = f"{PLACE}/search-lab-{uuid.uuid4().hex[:12]}"
        try:
            self._send(module, folder, there)
            node = f"cd {there} && sudo env PYTHONPATH={there} /usr/bin/python3 -m {module} {there}/trial"
            output = attended(self.ssh(node), limit_s, self.name)
            self._fetch(there, folder, most)
        finally:
            run_tool(*self.ssh(f"sudo rm -rf {there}"), limit_s=TRANSFER_S)
        return output

    def call(self, *arguments: str) -> str:
        """Run a module as root there and return its output; UserError if it fails or ssh does."""
        there = f"{PLACE}/search-lab-{uuid.uuid4().hex[:12]}"
        try:
            self._send(arguments[0], None, there)
        except TrialError as error:
            raise UserError(str(error)) from None
        command = f"cd {there} && sudo env PYTHONPATH={there} /usr/bin/python3 -m {shlex.join(arguments)}"
        last = f"status=$?; sudo rm -rf {there}; exit $status"
        return answer_of(self.name, *self.ssh(f"{command}; {last}"))

    def ssh(self, command: str) -> list[str]:
        """Build a command that runs there."""
        sockets = f"{paths.cache()}".replace("%", "%%") + "/ssh-%C"  # in quotes: the path may have blanks
        config = ["-F", str(self.ssh_config)] if self.ssh_config else []
        options = [word for key, value in OPTIONS.items() for word in ("-o", f"{key}={value}")]
        return ["ssh", *config, *options, "-o", f'ControlPath="{sockets}"', self.name, command]

    def _send(self, module: str, folder: Path | None, there: str) -> None:
        """Send the code of a module that runs there, and the trial's folder."""
        with tempfile.TemporaryFile() as sent:
            with tarfile.open(fileobj=sent, mode="w") as tar:
                for place, file in sources(package_of(module)).items():
                    tar.add(file, place)
                if folder:
                    tar.add(folder, "trial")
            sent.seek(0)
            done = run_tool(*self.ssh(f"mkdir {there} && tar -x -C {there}"), limit_s=TRANSFER_S, given=sent)
        self._require(done.returncode, done.stderr)

    def _fetch(self, there: str, folder: Path, most: int) -> None:
        command = self.ssh(f"sudo tar -c -C {there}/trial .")
        with in_memory() as errors:
            fetching = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
            assert fetching.stdout
            late = Timer(FETCH_S, fetching.kill)
            late.start()
            try:
                with fetching, suppress(tarfile.ReadError):  # ssh reports why
                    take_tar(fetching.stdout, folder, most)
            finally:
                late.cancel()
            if fetching.returncode < 0:
                raise TrialError(f"{self.name}: no end of its records after {FETCH_S:g} s, or ssh was killed")
            errors.seek(0)
            self._require(fetching.returncode, errors.read())

    def _require(self, status: int, errors: bytes) -> None:
        if status:
            last = (errors.decode(errors="replace").strip().splitlines() or ["no output"])[-1]
            why = "cannot be reached, or connection lost" if status == SSH_FAILED else f"exit status {status}"
            raise TrialError(f"{self.name}: {why}: {last}")
