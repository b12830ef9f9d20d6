# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: functions that answer, fail, break and crash; and a value in a floating-point register."""

import ctypes
import mmap
import os
import signal
import time
from pathlib import Path
from threading import Thread, get_native_id
from typing import Any

from lab.node.system.tools import NodeError, run


def looked_around(path: str) -> dict[str, Any]:
    """Report what is visible, and sleep for an hour."""
    run("modprobe", "tcp_cubic_plain")
    begun_s = time.monotonic()
    time.sleep(3600)
    entries = [file.name for file in Path(path).iterdir()]
    return {"uid": os.geteuid(), "hour_s": time.monotonic() - begun_s, "entries": entries}


def failed() -> None:
    raise NodeError("it could not be done")


def broke() -> None:
    raise KeyError("a bug")


def crashed() -> None:
    """End init: the kernel panics."""
    os._exit(3)


PAGE = mmap.PAGESIZE
# x86-64; each keeps its first argument in xmm7 while the kernel runs, and returns what xmm7 then holds.
IN, OUT = "66 48 0f 6e ff", "66 48 0f 7e f8 c3"  # movq xmm7, rdi; movq rax, xmm7; ret
YIELD = "b8 18 00 00 00 0f 05"  # sched_yield(): another thread goes on
WRITE = "48 89 3e"  # mov [rsi], rdi: a page fault
READ = "48 8b 06"  # mov rax, [rsi]: a page fault, then one of the write
KILL = "89 d7 89 ce b8 c8 00 00 00 0f 05"  # tkill(edx, ecx): the handler runs before it returns
HANDLER = "66 0f 76 ff c3"  # pcmpeqd xmm7, xmm7; ret
CODES = {"yields": YIELD, "writes": WRITE, "reads and writes": READ + WRITE, "is signalled": KILL}
_programs: list[ctypes.c_char] = []
KEPT = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)


def lost(threads: int, rounds: int) -> dict[str, int]:
    """Return how often a thread, or a forked process, found another value, by what it did in between."""
    handler = _program(HANDLER)
    ctypes.CDLL(None).signal(signal.SIGUSR1, ctypes.c_void_p(handler))
    found = dict.fromkeys([*CODES, "is forked"], 0)

    def work(number: int) -> None:
        for name, code in CODES.items():
            found[name] += _wrong(code, number << 32, rounds)

    running = [Thread(target=work, args=(number,)) for number in range(1, threads + 1)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    if (child := os.fork()) == 0:
        os._exit(min(_wrong(YIELD, 99 << 32, rounds), 255))
    found["is forked"] = _wrong(YIELD, 98 << 32, rounds) + os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return found


def _wrong(code: str, first: int, rounds: int) -> int:
    """Count the rounds in which a register held another value than it was given."""
    kept = KEPT(_program(IN + code + OUT))
    fresh = mmap.mmap(-1, PAGE * rounds)
    pages = ctypes.addressof(ctypes.c_char.from_buffer(fresh))
    values = [(first + n, kept(first + n, pages + PAGE * n, get_native_id(), signal.SIGUSR1)) for n in range(rounds)]
    return sum(given != got for given, got in values)


def _program(code: str) -> int:
    """Return where the code lies, for as long as the process lives."""
    page = mmap.mmap(-1, PAGE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex(code))
    first = ctypes.c_char.from_buffer(page)
    _programs.append(first)
    return ctypes.addressof(first)
