# SPDX-License-Identifier: GPL-2.0-or-later
"""Fuzz one reader in this process, within bounds: `python -m tests.hostile.fuzz READER EXAMPLES SEED`.

An input is a whole file with a few values or bytes replaced. A reader reads it or refuses it in a line per fault; every
other end is a fault, and hypothesis prints the smallest input that it found.
"""

import copy
import json
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from test_import_fuzz import CHANGES, changed

from tests.hostile.inputs import file_name
from tests.hostile.readers import READERS, bound, refusal
from tests.hostile.samples import contents, documents

PATIENCE_S = 30  # of processor time for one input
CPU_S_PER_EXAMPLE, LEAST_CPU_S = 0.5, 300
MOST_LINE_CHARS = 2100
NUMBERS = [0, -1, 1, 2**31, 2**63, 2**64, 10**30, 10**400, 0.5, -0.0, 1e-320, 1e-9, 1e308, float("inf"), float("nan")]
TEXTS = ["", " ", "x", "x" * 300, "\0", "\n", "\ud800", "../x", "/dev/zero", "a: b", "=1", "geo", "path", "search"]
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, [], {}, [[]], [None], ["x", "x"], {"x": 1}, {"": {}}, *NUMBERS, *TEXTS]
).map(copy.deepcopy)  # a later change would change the sample


@st.composite
def changed_document(draw: st.DrawFn, samples: list[Any]) -> bytes:
    """Replace, remove, add or repeat a few values of a document."""
    document = copy.deepcopy(draw(st.sampled_from(samples)))
    for _ in range(draw(st.integers(1, 3))):
        document = _changed_once(draw, document)
    return json.dumps(document).encode()


def _changed_once(draw: st.DrawFn, document: Any) -> Any:
    places = list(_places(document))
    if not places:
        return draw(ODD)
    parent, key = places[draw(st.integers(0, len(places) - 1))]
    how = draw(st.sampled_from(["replace", "scale", "scale", "remove", "add"]))
    number = isinstance(parent[key], (int, float)) and not isinstance(parent[key], bool)
    if how == "scale" and number:
        parent[key] = _scaled(parent[key], *draw(st.sampled_from([(0, 1), (1, 1000), (1, 2), (2, 1), (1000, 1)])))
    elif how in ("replace", "scale"):
        parent[key] = draw(ODD | st.floats() | st.integers() | st.text(max_size=9))
    elif how == "remove":
        del parent[key]
    elif isinstance(parent, dict):
        parent[draw(st.text(max_size=5) | st.sampled_from(TEXTS))] = draw(ODD)
    else:
        parent.append(copy.deepcopy(parent[0]) if parent else draw(ODD))
    return document


def _scaled(value: float, by: int, divided_by: int) -> float:
    """Scale a number and keep its type; an integer may be larger than every float."""
    return value * by // divided_by if isinstance(value, int) else value * by / divided_by


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place of a document: what holds it, and its key there."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


@st.composite
def changed_bytes(draw: st.DrawFn, samples: list[bytes]) -> bytes:
    """Replace a few bytes of a file, or cut it."""
    data = changed(draw(st.sampled_from(samples)), draw(CHANGES))
    return data[: draw(st.integers(0, len(data)))] if draw(st.integers(0, 4)) == 0 else data


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """End what takes too much processor time; the limit of the process ends what does not listen."""

    def end(*_: object) -> None:
        raise TimeoutError(f"no end after {seconds:g} s of processor time")

    signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def fuzz(reads: str, examples: int, number: int) -> Counter[str]:
    """Try so many inputs; returns how they ended."""
    ends: Counter[str] = Counter()
    inputs = changed_bytes(contents(reads))
    if documents(reads):
        inputs = st.one_of(*[changed_document(documents(reads))] * 4, inputs)  # most get beyond the first check
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / file_name(reads)

        @seed(number)
        @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(inputs)
        def one(data: bytes) -> None:
            file.write_bytes(data)
            try:
                with patience(PATIENCE_S):
                    line = refusal(READERS[reads], file)
                assert all(len(fault) <= MOST_LINE_CHARS for fault in (line or "").split("\n")), line
            except BaseException:
                Path(f"{tempfile.gettempdir()}/hostile-{file.name}").write_bytes(data)  # the smallest is the last
                raise
            ends["read" if line is None else "refused"] += 1

        one()
    return ends


def main() -> None:
    """Fuzz as the command line requests, and print how the inputs ended."""
    reads, examples, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    bound(round(LEAST_CPU_S + CPU_S_PER_EXAMPLE * examples))
    ends = fuzz(reads, examples, number)
    print(f"{reads}: {ends.total()} inputs: {ends['refused']} refused in a line per fault, {ends['read']} read")


if __name__ == "__main__":
    main()
