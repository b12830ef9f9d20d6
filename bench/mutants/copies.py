# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies of the checkout in sandboxes, in which tests run: a change may write, kill and send what it likes."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.mutants.worker import OUTPUT, Reply, Request
from lab.base import paths
from lab.base.errors import UserError

LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", "results", "site", ".*_cache", ".hypothesis")
LOCKS = shutil.ignore_patterns(".*.lock")
LOCKED_INSIDE = ("traces", "recordings")  # folders of the cache in which commands make locks


class Copy:
    """A copy with its worker."""

    def __init__(self, folder: Path, worker: "subprocess.Popen[str]") -> None:
        self.folder, self.worker = folder, worker

    def run(self, request: Request) -> Reply:
        """Send a request and wait for the reply."""
        assert self.worker.stdin
        assert self.worker.stdout
        with suppress(BrokenPipeError):  # then it has ended, and there is no line
            self.worker.stdin.write(json.dumps(request) + "\n")
            self.worker.stdin.flush()
        line = self.worker.stdout.readline()
        if not line:
            raise UserError("make mutants: the process that runs tests ended: see its error above")
        reply: Reply = json.loads(line)
        return reply

    @property
    def output(self) -> str:
        """Return what pytest printed last."""
        return (self.folder / OUTPUT).read_text(errors="replace")


def copied(folder: Path) -> Path:
    """Copy the checkout to `folder`/tree, with a cache beside it that reads from the user's and writes to its own."""
    tree = folder / "tree"
    shutil.copytree(paths.REPO, tree, ignore=LEFT_OUT, symlinks=True)
    _commit(tree)
    (tree / ".venv").symlink_to((paths.REPO / ".venv").resolve())
    (folder / "temporary").mkdir()
    (folder / "cache").mkdir()
    for entry in paths.cache().glob("[!.]*"):
        if entry.name in LOCKED_INSIDE:
            shutil.copytree(entry, folder / "cache" / entry.name, ignore=LOCKS, copy_function=os.symlink)
        else:
            (folder / "cache" / entry.name).symlink_to(entry)
    return tree


def _commit(tree: Path) -> None:
    """Make a tree a repository of one commit: some tests archive theirs."""
    author = ("-c", "user.name=copy", "-c", "user.email=copy@localhost")
    for words in (
        ["-c", "init.defaultBranch=copy", "init", "--quiet"],
        ["add", "--all"],
        [*author, "commit", "--message=copy"],
    ):
        subprocess.run(["git", "-C", str(tree), *words], check=True, stdout=subprocess.DEVNULL)


def environment(folder: Path) -> dict[str, str]:
    """Return the variables with which tests run in the copy below `folder`."""
    tree = folder / "tree"
    own = {"PYTHONPATH": f"{tree}:{tree}/packages/course", "LAB_CACHE": folder / "cache"}
    own |= {"MPLCONFIGDIR": folder / "matplotlib", "TMPDIR": folder / "temporary"}
    recordings = Path(os.environ.get("LAB_TRACES_REAL") or paths.REPO / "../shared/traces-real").resolve()
    if recordings.is_dir():  # which the tests look for beside their checkout, and this one is elsewhere
        own["LAB_TRACES_REAL"] = recordings
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    return {name: str(path) for name, path in own.items()} | one_thread | {"CI": "1", "LAB_RESULTS": ""}


@contextmanager
def opened(folder: Path) -> Iterator[Copy]:
    """Yield a new copy below `folder`; its worker ends with the block."""
    tree = copied(folder)
    command = [*_sandbox(folder), sys.executable, "-m", "bench.mutants.worker"]
    pipe, own = subprocess.PIPE, environment(folder)
    with subprocess.Popen(command, cwd=tree, env=os.environ | own, stdin=pipe, stdout=pipe, text=True) as worker:
        try:
            yield Copy(tree, worker)
        finally:
            worker.kill()
            with suppress(BrokenPipeError):  # what was not sent
                assert worker.stdin
                worker.stdin.close()


def _sandbox(folder: Path) -> list[str]:
    """Return the words before a command that may write in `folder` only and sees no process and network of others."""
    command = "bwrap --die-with-parent --unshare-pid --unshare-net --unshare-ipc --ro-bind / / --dev /dev --proc /proc"
    return [*command.split(), "--tmpfs", "/tmp", "--tmpfs", "/var/tmp", "--bind", str(folder), str(folder)]
