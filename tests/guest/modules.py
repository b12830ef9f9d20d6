# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: modules that come and go while flows run, memory before and after, and many flows at once."""

import ctypes
import errno
import os
import resource
import socket
import time
from pathlib import Path
from typing import Any

from lab.node.system.libc import LIBC
from lab.node.system.tools import NodeError, run
from tests.guest.flow import Flow, connect, finish, link_up, listening, pump, receiving

SYS_DELETE_MODULE, SYS_FINIT_MODULE = 176, 313  # x86-64
BACKGROUND_BYTES, OWN_BYTES, SNDBUF_BYTES = 2**62, 30_000, 100_000
MEMORY = ("Slab", "SUnreclaim", "VmallocUsed", "PageTables", "KernelStack", "Percpu")
Link = dict[str, Any]


def files_of(module: str) -> list[tuple[str, str]]:
    """Name a module's file and those it needs, in the order of loading: (module, file)."""
    lines = run("modprobe", "--show-depends", module).splitlines()
    files = [line.split()[1] for line in lines if line.startswith("insmod ")]
    return [(Path(file).stem.replace("-", "_"), file) for file in files]


def load(file: str) -> None:
    """insmod, without a process."""
    with Path(file).open("rb") as stream:
        _check(LIBC.syscall(SYS_FINIT_MODULE, stream.fileno(), b"", 0), file)


def unload(module: str) -> bool:
    """rmmod, without a process and without waiting; False where it is in use."""
    if not LIBC.syscall(SYS_DELETE_MODULE, module.encode(), os.O_NONBLOCK):
        return True
    if ctypes.get_errno() in (errno.EWOULDBLOCK, errno.EBUSY):
        return False
    raise NodeError(f"delete_module {module}: {os.strerror(ctypes.get_errno())}")


def _check(result: int, what: str) -> None:
    if result:
        raise NodeError(f"{what}: {os.strerror(ctypes.get_errno())}")


def reloaded(link: Link, module: str, algorithm: str, times: int) -> dict[str, Any]:
    """Load a sender, run a flow of it beside another's, try to unload it meanwhile, unload it after: many times.

    Returns the memory in use after a tenth of the times and at the end, how often unloading a used module was
    refused, and how many bytes the other flow moved meanwhile.
    """
    first_refused, _ = _rounds(link, module, algorithm, times // 10)
    early = memory()
    refused, moved_bytes = _rounds(link, module, algorithm, times - times // 10)
    return {"early": early, "late": memory(), "refused": first_refused + refused, "moved_bytes": moved_bytes}


def _rounds(link: Link, module: str, algorithm: str, times: int) -> tuple[int, int]:
    needed = files_of(module)
    refused = 0
    with link_up({**link, "modules": []}):
        background = opened(link, "cubic", BACKGROUND_BYTES)
        for _ in range(times):
            for _, file in needed:
                load(file)
            own = opened(link, algorithm, OWN_BYTES)
            refused += not unload(needed[-1][0])
            while not own.done:
                pump([background, own], 0.1)
            own.close()
            for name, _ in reversed(needed):
                _unload_soon(name)
        background.size_bytes = background.sent_bytes
        finish([background], 600)
    return refused, background.got_bytes


def opened(link: Link, algorithm: str, size_bytes: int) -> Flow:
    server, client = link["ends"]
    with listening(server, algorithm) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SNDBUF_BYTES)
        return connect(link, sock, receiving(client), size_bytes)


def _unload_soon(module: str) -> None:
    """Unload a module whose last sockets are still saying goodbye."""
    for _ in range(1000):
        if unload(module):
            return
        time.sleep(0.1)
    raise NodeError(f"{module}: still in use 100 s after its last flow")


def memory() -> dict[str, int]:
    """Return what the kernel uses for itself, in kB, when RCU has freed what it will and no cache keeps freed objects.

    KASAN keeps them in a quarantine, which shrinking a cache empties of its own (mm/kasan/quarantine.c).
    """
    time.sleep(1)
    for shrink in Path("/sys/kernel/slab").glob("*/shrink"):
        shrink.write_text("1")
    lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return {name: int(lines[name].split()[0]) for name in MEMORY if name in lines}


SIZE_BYTES = 20_000


def crowd(link: dict[str, Any], algorithms: list[str], flows: int) -> dict[str, Any]:
    """Open flows, the senders by turns, before the first byte is sent; then move what each has to send."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4 * flows, 4 * flows))
    server, client = link["ends"]
    opened = []
    with link_up(link):
        for number in range(flows):
            with listening(server, algorithms[number % len(algorithms)]) as sock:
                opened.append(connect(link, sock, receiving(client), SIZE_BYTES))
        finish(opened, 600)
    most_cwnd_pkts = max(flow.most_cwnd_pkts for flow in opened)
    return {"got_bytes": sum(flow.got_bytes for flow in opened), "most_cwnd_pkts": most_cwnd_pkts}


def loaded(file: str, options: str, wait_s: float) -> int:
    """Load a module with its options, wait, and return what the kernel returned."""
    with Path(file).open("rb") as stream:
        result: int = LIBC.syscall(SYS_FINIT_MODULE, stream.fileno(), options.encode(), 0)
    time.sleep(wait_s)
    return result


def load_suites() -> list[str]:
    """Load each suite, which runs it; returns their names."""
    files = sorted((Path("/usr/lib/modules") / os.uname().release).glob("*_kunit.ko"))
    for file in files:
        run("modprobe", file.stem)
    return [file.stem for file in files]
