# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's own tracepoints, stored as the raw pages of its ring buffer.

Writing them as text costs a third of a trial's time (98 MB for 20 s of 144 Mb/s), and the pages are exact. They are
recorded in an instance of the lab's own: the rest of the machine may trace at the same time.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.node.system import small_file
from lab.node.system.tools import NodeError

TRACEFS = Path("/sys/kernel/tracing/instances/search-lab")
SUBBUFFER_KB = 64  # larger pages: fewer reads here, longer runs of equal events for the reader


@contextmanager
def tracing(events: dict[str, str], folder: Path, buffer_kb: int) -> Iterator[None]:
    """Record events (name -> filter, '' for none) while the block runs; then write trace.raw and the formats."""
    with _instance():
        _set("tracing_on", "0")
        _set("current_tracer", "nop")
        _set("trace_clock", "mono")
        page_bytes = _choose_page()
        _set("buffer_size_kb", str(buffer_kb))
        _set("trace", "")
        formats = folder / "formats"
        formats.mkdir()
        small_file.make(formats / "page_bytes", str(page_bytes))
        for name, condition in events.items():
            _enable(name, condition, formats)
        _set("tracing_on", "1")
        try:
            yield
        finally:
            _set("tracing_on", "0")
            for name in events:
                _set(f"events/{name.replace(':', '/')}/enable", "0")
        _refuse_losses()
        _drain(folder / "trace.raw", page_bytes)


@contextmanager
def _instance() -> Iterator[None]:
    try:
        TRACEFS.mkdir()
    except FileNotFoundError:
        raise NodeError(f"tracefs: {TRACEFS.parent}: must be there: mount tracefs") from None
    try:
        yield
    finally:
        TRACEFS.rmdir()


def _choose_page() -> int:
    """Since 6.8 a page of the ring may be large; older kernels keep the machine's own."""
    setting = TRACEFS / "buffer_subbuf_size_kb"
    if not setting.exists():
        return os.sysconf("SC_PAGESIZE")
    small_file.write(setting, str(SUBBUFFER_KB))
    return int(small_file.read(setting)) * 1024


def _set(name: str, value: str) -> None:
    small_file.write(TRACEFS / name, value)


def _enable(name: str, condition: str, formats: Path) -> None:
    event = TRACEFS / "events" / name.replace(":", "/")
    if not event.exists():
        raise NodeError(f"tracefs: event={name}: must be one of this kernel's tracepoints (is its module loaded?)")
    if condition:
        small_file.write(event / "filter", condition)
    small_file.write(event / "enable", "1")
    small_file.make(formats / f"{name.replace(':', '.')}.format", small_file.read(event / "format"))


def _cpus() -> list[Path]:
    return sorted((TRACEFS / "per_cpu").glob("cpu*"))


def _refuse_losses() -> None:
    for cpu in _cpus():
        stats = dict(line.split(": ", 1) for line in small_file.read(cpu / "stats").splitlines())
        lost = {name: stats[name] for name in ("overrun", "commit overrun", "dropped events") if int(stats[name])}
        if lost:
            raise NodeError(f"tracefs: lost events {lost}: the trace buffer must be larger")


def _drain(file: Path, page_bytes: int) -> None:
    """Write the pages of one processor after the other: each page has the time of its beginning."""
    with file.open("wb") as sink:
        for cpu in _cpus():
            source = os.open(cpu / "trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
            try:
                while page := os.read(source, page_bytes):
                    sink.write(page.ljust(page_bytes, b"\0"))
            except BlockingIOError:  # nothing more to read
                pass
            finally:
                os.close(source)
