# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs tests in a copy of the checkout, each time in a new process and with one file changed.

`python -m bench.mutants.worker` in that copy reads one JSON request per line and prints one reply per line. The
libraries are loaded once; all of lab/ is loaded again by each process, so that constants and decorators may change too.
"""

import contextlib
import importlib.util
import json
import os
import resource
import signal
import sys
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import TypedDict

LIBRARIES = "polars scipy.stats pyarrow.parquet pytest hypothesis pydantic typer matplotlib yaml jinja2 rich.console"
MEMORY_BYTES = 8_000_000_000
WAIT_FACTOR, WAIT_S = 6, 60  # a busy machine takes longer than the processor's time; a test that waits ends too
OUTPUT = "mutants-output.txt"


class Request(TypedDict):
    """Tests to run, with a file's text replaced (none where `file` is empty), in so much time of the processor."""

    file: str
    source: str
    tests: list[str]
    cpu_s: float
    cover: str  # where the plugin writes what the tests execute; empty for no recording


class Reply(TypedDict):
    """What pytest returned: its exit status, or minus the signal that ended it; null where it was still running."""

    status: int | None


def main() -> None:
    """Answer requests until standard input ends."""
    for name in LIBRARIES.split():
        importlib.import_module(name)
    sys.dont_write_bytecode = True
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


def answer(request: Request) -> Reply:
    """Run the tests of one request."""
    with _changed(request["file"], request["source"]):
        process = get_context("fork").Process(target=_run, args=(request,))
        process.start()
        process.join(WAIT_S + WAIT_FACTOR * request["cpu_s"])
        status = process.exitcode
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)  # what the tests have started ends with them
        process.join()
    return {"status": status}


def _run(request: Request) -> None:
    os.setsid()
    output = os.open(OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(output, stream)
    cpu_s = int(request["cpu_s"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    os.environ["MUTANTS_COVER"] = request["cover"]
    import pytest

    options = ["-q", "-p", "no:cacheprovider", "-p", "bench.mutants.cover"]
    stop = [] if request["cover"] else ["-x"]
    raise SystemExit(pytest.main([*options, *stop, *request["tests"]]))


@contextlib.contextmanager
def _changed(name: str, source: str) -> Iterator[None]:
    if not name:
        yield
        return
    file = Path(name)
    original = file.read_text()
    _write(file, source)
    try:
        yield
    finally:
        _write(file, original)


def _write(file: Path, source: str) -> None:
    """Write a file of code, and forget how it was compiled: Python would take that for the same size and second."""
    Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)
    file.write_text(source)


if __name__ == "__main__":
    main()
