# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the kernel runs, `vm`: on the machine that Vagrant brought up, or any that was provisioned, over ssh.

It gets the node's code and a trial's plan, and gives raw records back; they are decoded, judged and stored here. So a
machine that is slow, or lost, costs a trial and no more.
"""

import json
import shlex
import subprocess
import tarfile
import uuid
from dataclasses import dataclass
from pathlib import Path

from lab.backends.boot import TrialError
from lab.backends.host import attended
from lab.backends.place import in_real_time, patience_s, require_records
from lab.base import paths
from lab.base.errors import UserError
from lab.node.plan import Plan

NODE_CODE = ("lab/__init__.py", "lab/node")
PLACE = "/var/tmp"
SSH_FAILED = 255
SHIP_S = 300
OPTIONS = {
    "BatchMode": "yes",
    "ConnectTimeout": "20",
    "ServerAliveInterval": "10",
    "ServerAliveCountMax": "6",
    "ControlMaster": "auto",
    "ControlPersist": "60",
    "LogLevel": "ERROR",
}


@dataclass(frozen=True)
class Machine:
    """A machine that ssh reaches by `name`, with the options in a configuration file where one is given."""

    engine: str
    name: str
    ssh_config: Path | None = None
    backend: str = "vm"

    def worded(self, plan: Plan) -> Plan:
        """Return a plan for real time."""
        return in_real_time(plan, self.engine)

    def run_plan(self, plan: Plan, folder: Path) -> None:
        """Ship a plan, execute it there, and bring its raw records back."""
        (folder / "plan.json").write_text(json.dumps(plan))
        said = self.execute("lab.node.host", folder, patience_s(plan))
        require_records(folder, self.name, said)

    def execute(self, module: str, folder: Path, limit_s: float) -> str:
        """Ship a folder, run a module of lab.node on it as root, and bring it back; returns what was printed."""
        there = f"{PLACE}/search-lab-{uuid.uuid4().hex[:12]}"
        try:
            self._ship(folder, there)
            node = f"cd {there} && sudo env PYTHONPATH={there} /usr/bin/python3 -m {module} {there}/trial"
            said = attended(self.ssh(node), limit_s, self.name)
            self._bring_back(there, folder)
        finally:
            subprocess.run(self.ssh(f"sudo rm -rf {there}"), capture_output=True, timeout=SHIP_S, check=False)
        return said

    def ask(self, *words: str) -> str:
        """Run a module of lab.node as root there and return what it printed; UserError where it cannot be asked."""
        there = f"{PLACE}/search-lab-{uuid.uuid4().hex[:12]}"
        try:
            self._ship(None, there)
            command = f"cd {there} && sudo env PYTHONPATH={there} /usr/bin/python3 -m {shlex.join(words)}"
            done = subprocess.run(
                self.ssh(f"{command}; status=$?; sudo rm -rf {there}; exit $status"),
                capture_output=True,
                text=True,
                timeout=SHIP_S,
                check=False,
            )
        except (TrialError, subprocess.TimeoutExpired) as error:
            raise UserError(str(error)) from None
        if done.returncode:
            raise UserError(f"{self.name}: {(done.stderr.strip().splitlines() or ['no answer'])[-1]}")
        return done.stdout

    def ssh(self, command: str) -> list[str]:
        """Word a command that runs there."""
        sockets = paths.cache() / "ssh-%C"
        config = ["-F", str(self.ssh_config)] if self.ssh_config else []
        options = [word for key, value in OPTIONS.items() for word in ("-o", f"{key}={value}")]
        return ["ssh", *config, *options, "-o", f"ControlPath={sockets}", self.name, command]

    def _ship(self, folder: Path | None, there: str) -> None:
        """Send the node's code, and the trial's folder."""
        shipping = subprocess.Popen(
            self.ssh(f"mkdir {there} && tar -x -C {there}"), stdin=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert shipping.stdin
        try:
            with tarfile.open(fileobj=shipping.stdin, mode="w|") as tar:
                for name in NODE_CODE:
                    tar.add(paths.REPO / name, name, filter=_no_caches)
                if folder:
                    tar.add(folder, "trial")
        except BrokenPipeError:
            pass  # ssh says why
        _, words = shipping.communicate(timeout=SHIP_S)
        self._require(shipping.returncode, words)

    def _bring_back(self, there: str, folder: Path) -> None:
        command = self.ssh(f"sudo tar -c -C {there}/trial .")
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as bringing:
            assert bringing.stdout
            assert bringing.stderr
            try:
                with tarfile.open(fileobj=bringing.stdout, mode="r|") as tar:
                    tar.extractall(folder, filter="data")
            except tarfile.ReadError:
                pass  # ssh says why
            words = bringing.stderr.read()
        self._require(bringing.returncode, words)

    def _require(self, status: int, words: bytes) -> None:
        if status:
            said = (words.decode(errors="replace").strip().splitlines() or ["no answer"])[-1]
            why = "cannot be reached, or went away" if status == SSH_FAILED else f"exit status {status}"
            raise TrialError(f"{self.name}: {why}: {said}")


def _no_caches(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if "__pycache__" in info.name else info
