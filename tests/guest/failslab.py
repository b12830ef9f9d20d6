# SPDX-License-Identifier: GPL-2.0-or-later
"""In the guest: memory that cannot be had, for one module alone or now and then for everybody."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.guest.flow import Flow, finish
from tests.guest.hardships import PATIENCE_S, Link, each_sender, opened

DEBUG = Path("/sys/kernel/debug")
SLABS, PAGES = DEBUG / "failslab", DEBUG / "fail_page_alloc"  # a large state has pages of its own
STACK_DEPTH = "64"
ANY_CODE = (0, 2**64 - 1)
EVERYBODY_PCT = 5
MOST = 1_000_000  # counted down by each failure


@contextmanager
def failing(probability_pct: int, code: tuple[int, int]) -> Iterator[None]:
    """Make allocations that may not wait fail, where code between two addresses requests them."""
    settings = {
        "ignore-gfp-wait": "Y",
        "stacktrace-depth": "0" if code == ANY_CODE else STACK_DEPTH,
        "require-start": hex(code[0]),
        "require-end": hex(code[1]),
        "verbose": "0",
        "times": str(MOST),
        "probability": str(probability_pct),
    }
    kinds = [SLABS] if code == ANY_CODE else [SLABS, PAGES]
    for kind in kinds:
        for name, value in settings.items():
            (kind / name).write_text(value)
    try:
        yield
    finally:
        for kind in kinds:
            (kind / "probability").write_text("0")


def text_of(module: str) -> tuple[int, int]:
    """Where a module's code lies."""
    lines = [line.split() for line in Path("/proc/modules").read_text().splitlines()]
    (begin, size) = next((int(words[5], 16), int(words[1])) for words in lines if words[0] == module)
    return begin, begin + size


def starved_module(link: Link, algorithms: list[str], module: str, parameter: str) -> dict[str, Any]:
    """The module itself gets no memory for its flows; returns also by how much its own count of those grew."""
    count = Path(f"/sys/module/{module}/parameters/{parameter}")
    counted: dict[str, int] = {}

    def one(link: Link, algorithm: str) -> Flow:
        before = int(count.read_text())
        with failing(100, text_of(module)):
            flow = opened(link, algorithm)
            finish([flow], PATIENCE_S)
        counted[algorithm] = int(count.read_text()) - before
        return flow

    return {"facts": each_sender(link, algorithms, one), "counted": counted}


def starved_kernel(link: Link, algorithms: list[str]) -> dict[str, Any]:
    """One in twenty allocations fails, in the network's own code too; returns also how many did."""
    failed: dict[str, int] = {}

    def one(link: Link, algorithm: str) -> Flow:
        flow = opened(link, algorithm)
        with failing(EVERYBODY_PCT, ANY_CODE):
            finish([flow], PATIENCE_S)
            failed[algorithm] = MOST - int((SLABS / "times").read_text())
        return flow

    return {"facts": each_sender(link, algorithms, one), "failed": failed}
