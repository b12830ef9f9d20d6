# SPDX-License-Identifier: GPL-2.0-or-later
"""Engine `containerlab`: every node is a container, brought up from its own file, which runs `exec` lines.

The lab is deployed under a name of our own, so that a lab the user deployed from the same file is left alone.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lab.node.system.tools import NodeError, run
from lab_vm.node.named import named

if TYPE_CHECKING:
    from lab.node.plan import NodesPlan

LAB = "search-lab"
WORK = Path("/run/search-lab/containerlab")  # containerlab keeps inventories beside what it deploys


@contextmanager
def containers_up(plan: "NodesPlan", folder: Path) -> Iterator[None]:
    """Deploy the containerlab file of a plan; NodeError where a container did not live to the end."""
    (file,) = (folder / "topology").glob("*.clab.yml")
    nodes = list(plan["topology"]["nodes"])
    require()
    try:
        WORK.mkdir(parents=True, exist_ok=True)
        copy = shutil.copy(file, WORK)
        _containerlab("deploy", "--topo", str(copy), "--name", LAB)
        processes = {node: _process(node) for node in nodes}
        with named(processes):
            yield
            for node, process in processes.items():
                if _process(node) != process:
                    raise NodeError(f"containerlab: container {_container(node)} was killed during the trial")
    finally:
        destroy()


def require() -> None:
    """Refuse what cannot work, in one line."""
    if not shutil.which("containerlab"):
        raise NodeError("containerlab: not installed here: run 'make provision'")
    try:
        run("docker", "version", "--format", "{{.Server.Version}}")  # `docker info` succeeds without a daemon
    except (NodeError, FileNotFoundError):
        raise NodeError("docker: no daemon answers: start it ('systemctl start docker')") from None


def destroy() -> None:
    """Remove containers, networks and files of a lab of ours, whatever is left of it."""
    left = run("docker", "ps", "--all", "--quiet", "--filter", f"label=containerlab={LAB}").split()
    if left:
        run("docker", "rm", "--force", "--volumes", *left)
    aliases = sorted(path.name for path in Path("/run/netns").glob(f"clab-{LAB}-*"))  # containerlab's own links
    run("ip", "-batch", "-", stdin="\n".join(f"netns delete {name}" for name in aliases))
    if not run("docker", "ps", "--all", "--quiet", "--filter", "label=containerlab").strip():  # nor a lab of the user's
        for network in run("docker", "network", "ls", "--quiet", "--filter", "label=containerlab").split():
            run("docker", "network", "rm", network)
    Path(f"/etc/ssh/ssh_config.d/clab-{LAB}.conf").unlink(missing_ok=True)
    _forget_names()
    shutil.rmtree(WORK, ignore_errors=True)


def _forget_names() -> None:
    """Take the block that containerlab wrote out of /etc/hosts."""
    hosts = Path("/etc/hosts")
    head, begin, rest = hosts.read_text().partition(f"###### CLAB-{LAB}-START ######\n")
    if begin:
        hosts.write_text(head + rest.partition(f"###### CLAB-{LAB}-END ######\n")[2])


def _container(node: str) -> str:
    return f"clab-{LAB}-{node}"


def _process(node: str) -> int:
    try:
        return int(run("docker", "inspect", "--format", "{{.State.Pid}}", _container(node)))
    except NodeError:
        raise NodeError(f"containerlab: container {_container(node)} is gone") from None


def _containerlab(*argv: str) -> None:
    """Run containerlab; NodeError with the last line of its output where it fails."""
    environment = os.environ | {"CLAB_LABDIR_BASE": str(WORK), "CLAB_VERSION_CHECK": "disable"}
    done = subprocess.run(
        ["containerlab", *argv], capture_output=True, text=True, env=environment, cwd=WORK, check=False
    )
    if done.returncode:
        printed = (done.stderr or done.stdout).strip().splitlines() or ["it printed nothing"]
        remedy = ": run 'make provision'" if "not found locally" in printed[-1] else ""
        raise NodeError(f"containerlab {argv[0]}: exit status {done.returncode}: {printed[-1]}{remedy}")
