# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial on the running kernel, in real time, as root.

Run it as   python3 -m lab_vm.node.host FOLDER

FOLDER holds plan.json and gets the raw records; an error is one line in its error.txt. One trial runs at a time: a lock
names its holder. At the end the first namespace is as it was before. The next trial clears what a killed one left, and
so does   python3 -m lab_vm.node.host --clean
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lab.node.net import sysctl
from lab.node.system import modules
from lab.node.system.failure import errors_stored
from lab.node.system.tools import NodeError
from lab.node.trial import namespaces, run_trial
from lab_vm.node import containerlab, leases, leftovers, mininet, pair
from lab_vm.node.exclusive import held_alone
from lab_vm.node.machine import Real
from lab_vm.node.named import let_go

if TYPE_CHECKING:
    from lab.node.plan import Plan

KMSG = Path("/dev/kmsg")  # Documentation/ABI/testing/dev-kmsg
RECORD_BYTES = 8192
FILE = "kernel.log"


@contextmanager
def logged(folder: Path) -> Iterator[None]:
    """Write what the kernel logs during the block into a folder; a kernel without /dev/kmsg leaves nothing."""
    try:
        log = os.open(KMSG, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        yield
        return
    try:
        os.lseek(log, 0, os.SEEK_END)
        yield
    finally:
        (folder / FILE).write_text("".join(f"{line}\n" for line in _lines(log)))
        os.close(log)


def _lines(log: int) -> Iterator[str]:
    """Yield the message of each record: what stands behind `priority,number,time_us,flags;`."""
    while True:
        try:
            record = os.read(log, RECORD_BYTES)
        except BlockingIOError:
            return
        except BrokenPipeError:  # the buffer has been written over: the next read goes on with the oldest record
            continue
        head, _, message = record.decode(errors="replace").partition(";")
        time_us = int(head.split(",")[2])
        yield f"[{time_us / 1e6:12.6f}] {message.splitlines()[0] if message else ''}"


STATE = Path("/run/search-lab")
SHIPPED = Path("/var/tmp")
ENDINGS = (signal.SIGTERM, signal.SIGHUP)
ENGINES = {
    "netns": namespaces,
    "containerlab": containerlab.containers_up,
    "mininet": mininet.hosts_up,
    "pair": pair.client_afar,
}  # what builds the nodes


def main(argv: list[str]) -> None:
    """Run the trial of a folder, or clear what a killed one left."""
    os.environ["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    for number in ENDINGS:
        signal.signal(number, _end)
    if argv == ["--clean"]:
        try:
            _clean()
        except NodeError as error:
            sys.exit(str(error))
        return
    threading.Thread(target=_end_with_input, daemon=True).start()
    folder = Path(argv[0])
    with errors_stored(folder):
        _trial(json.loads((folder / "plan.json").read_text()), folder)


def _end(*_: object) -> None:
    """Let every block end as it should, once."""
    for number in ENDINGS:
        signal.signal(number, signal.SIG_IGN)
    sys.exit(1)


def _end_with_input() -> None:
    """EOF on standard input: the command that requested the trial has gone; end cleanly too."""
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


def _trial(plan: "Plan", folder: Path) -> None:
    if os.geteuid():
        raise NodeError(f"host: uid={os.geteuid()}: must be 0: namespaces and qdiscs are made by root")
    STATE.mkdir(exist_ok=True)
    with held_alone(STATE / "lock", plan["holder"]):
        leftovers.clear(STATE)
        with leftovers.claimed(STATE, plan), _as_before(plan), logged(folder):
            run_trial(plan, folder, build=_nodes)


@contextmanager
def _nodes(plan: "Plan", folder: Path) -> Iterator[Real]:
    """Let a plan's engine bring the nodes up; connections close while the wires are there."""
    with ENGINES[plan["engine"]](plan, folder) as far:
        try:
            yield Real(plan, far)
        finally:
            let_go(plan["ends"])


def _clean() -> None:
    if not STATE.is_dir():
        return
    with held_alone(STATE / "lock", f"lab clean (process {os.getpid()})"):
        for removed in [*leftovers.clear(STATE), *leases.clear(), *leftovers.clear_folders(SHIPPED)]:
            print(removed)


@contextmanager
def _as_before(plan: "Plan") -> Iterator[None]:
    """Give the kernel's settings back, and unload the modules that were not loaded."""
    with ExitStack() as stack:
        stack.enter_context(sysctl.given_back(plan["sysctls"]["kernel"]))
        stack.enter_context(modules.given_back(leftovers.needed(plan)))
        yield


if __name__ == "__main__":
    main(sys.argv[1:])
