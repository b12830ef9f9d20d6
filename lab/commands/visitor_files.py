# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab senders list` and `fetch`: the files of visitors. Nothing here loads what runs trials."""

from collections.abc import Iterator, Sequence

from lab.kernel.quic import crates
from lab.kernel.visitors.fetch import chosen, fetch, is_fetched
from lab.schema.visitor import load_visitors
from lab.traces.candidates import Mirror


def fetched(names: Sequence[str], everything: bool, mirror: Mirror | None) -> Iterator[str]:
    """Fetch visitors, and the crates of the senders over QUIC where they are named; yield what was fetched."""
    if crates.NAME in names:
        yield f"{crates.NAME}: the crates of lab/kernel/quic/Cargo.lock, each under a licence of its own"
        yield f"  {crates.fetch(mirror)}"
    visitors = [name for name in names if name != crates.NAME]
    if visitors or everything or not names:
        yield from fetch(chosen(visitors, everything), mirror)


def listing() -> Iterator[str]:
    """Yield the lines of every visitor: its label, licence, fetched or not, its slow start, and what it needs."""
    for name, visitor in load_visitors().items():
        licence = visitor.licence if visitor.may_be_passed_on else "no licence"
        state = "fetched" if is_fetched(name, visitor) else "not fetched"
        yield f"{name:17} {visitor.label}, {licence}, {state}"
        yield f"  {visitor.slow_start}"
        if visitor.needs:
            yield f"  needs {visitor.needs}"
    yield "'lab senders fetch NAME' fetches one, 'lab compare --cca NAME,...' runs it."
