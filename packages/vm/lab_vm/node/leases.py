# SPDX-License-Identifier: GPL-2.0-or-later
"""What `lab replay` makes in networks of others, written down first, so that it can be removed after a killed one.

One file per process, which holds its lock: a file without one is of a process that was killed.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TypedDict

from lab.node.net import namespace, netns
from lab.node.system import modules as kernel_modules
from lab.node.system.tools import NodeError, run

LEASES = Path("/run/search-lab/replay")
FOLDERS = Path("/var/tmp"), "lab-replay-"  # where a command puts its request, and how the folder's name begins


class Made(TypedDict):
    """The file's content."""

    folder: str  # of the request
    names: list[str]  # of namespaces, all the lab's
    interfaces: list[list[str]]  # namespace and interface, whose qdiscs are the lab's
    modules: list[str]  # those that were not loaded


class Lease:
    """A lease that grows."""

    def __init__(self, file: IO[str], folder: Path) -> None:
        self.file = file
        self.made: Made = {"folder": str(folder), "names": [], "interfaces": [], "modules": []}
        self._write()

    def add(
        self,
        names: list[str] | None = None,
        interfaces: list[list[str]] | None = None,
        modules: list[str] | None = None,
    ) -> None:
        """Write down what will be made."""
        self.made["names"] += names or []
        self.made["interfaces"] += interfaces or []
        self.made["modules"] += modules or []
        self._write()

    def new_name(self) -> str:
        """Return a namespace's name that no other lease has."""
        return f"lab-replay-{os.getpid()}-{len(self.made['names'])}"

    def _write(self) -> None:
        self.file.seek(0)
        self.file.truncate()
        self.file.write(json.dumps(self.made))
        self.file.flush()


@contextmanager
def leased(folder: Path) -> Iterator[Lease]:
    """Hold a lease while the block runs; the folder of the request goes with it."""
    path = LEASES / f"{os.getpid()}.json"
    with _alone():
        file = path.open("w")
        fcntl.flock(file, fcntl.LOCK_EX)
    with file:
        try:
            yield Lease(file, folder)
        finally:
            _remove_folder(folder)
            path.unlink()
            with _alone():
                pass  # the last one takes the folder away


def clear() -> list[str]:
    """Remove what killed ones left; return a line for each."""
    removed: list[str] = []
    with _alone():
        for path in sorted(LEASES.glob("*.json")):
            with path.open() as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:  # it runs
                    continue
                removed += _undo(file.read())
                path.unlink()
    return removed


@contextmanager
def _alone() -> Iterator[None]:
    """Keep others from opening or clearing leases while the block runs; an empty folder goes with it."""
    while True:
        LEASES.mkdir(parents=True, exist_ok=True)
        folder = os.open(LEASES, os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        if LEASES.exists() and os.path.samestat(os.fstat(folder), LEASES.stat()):
            break
        os.close(folder)  # another one has taken it away meanwhile
    try:
        yield
    finally:
        with suppress(OSError):  # a lease, or a trial's lock, is in it
            LEASES.rmdir()
            LEASES.parent.rmdir()
        os.close(folder)


def _undo(content: str) -> Iterator[str]:
    if not content:  # killed before it wrote anything
        return
    made: Made = json.loads(content)
    there = namespace.named()
    for node, dev in made["interfaces"]:
        with suppress(NodeError):  # the network is gone
            run("tc", "-n", node, "qdisc", "del", "dev", dev, "root")
            yield f"qdiscs of {node}:{dev}"
    netns.unname(made["names"])
    yield from (f"network namespace's name {name}" for name in made["names"] if name in there)
    kernel_modules.unload([name for name in made["modules"] if kernel_modules.loaded(name)])
    _remove_folder(Path(made["folder"]))


def _remove_folder(folder: Path) -> None:
    """Remove the folder of a request, and no other."""
    place, begin = FOLDERS
    if folder.parent == place and folder.name.startswith(begin):
        shutil.rmtree(folder, ignore_errors=True)
