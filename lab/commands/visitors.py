# SPDX-License-Identifier: GPL-2.0-or-later
"""Visitors in a comparison: found by name, built for the virtual kernel, and smoke-tested before any trial."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rich.console import Console

from lab.backends.own_trees import virtual_tree
from lab.backends.virtual import Virtual
from lab.kernel.own.build import OwnModule, build_own
from lab.kernel.own.diagnostics import BuildError
from lab.kernel.own.source import OwnSource
from lab.kernel.quic import crates
from lab.kernel.visitors.fetch import chosen, fetch, is_fetched
from lab.kernel.visitors.source import require_runnable, visitor_source
from lab.runs.own.senders import module_files
from lab.runs.own.smoke import SmokeTest
from lab.runs.own.visitors import as_built, require_algorithm, visitor_senders
from lab.schema.cca import Cca
from lab.schema.visitor import load_visitors
from lab.traces.candidates import Mirror


@dataclass(frozen=True)
class Visiting:
    """The visitors of a comparison: their edited sources, and their senders as their files describe them."""

    sources: Mapping[str, OwnSource]
    senders: Mapping[str, Cca]

    def built(self, virtual: Virtual, console: Console) -> tuple[dict[str, Cca], Virtual]:
        """Build and test every visitor; return the senders to run, and the virtual kernel with their modules."""
        began_s = time.monotonic()
        modules = {name: _built(source, virtual, console) for name, source in self.sources.items()}
        senders = {name: as_built(self.senders[name], module) for name, module in modules.items()}
        for name, module in modules.items():
            test = SmokeTest(module, senders[name].params, virtual.kernel, virtual.world.root)
            require_algorithm(senders[name], test.run())
        if modules:
            line = f"built and smoke-tested {', '.join(modules)} in {time.monotonic() - began_s:.1f} s"
            console.print(line, soft_wrap=True, markup=False)
        files = module_files(modules.values())
        return senders, replace(virtual, own_modules={**virtual.own_modules, **files}) if files else virtual


def visiting(names: Sequence[str]) -> Visiting:
    """Return those of some senders that are visitors; UserError where one is not fetched, or cannot be built."""
    known = load_visitors()
    visitors = {name: known[name] for name in names if name in known}
    for name, visitor in visitors.items():
        require_runnable(name, visitor)
    sources = {name: visitor_source(name, visitor) for name, visitor in visitors.items()}
    return Visiting(sources, visitor_senders(visitors, sources))


def fetched(names: Sequence[str], everything: bool, mirror: Mirror | None) -> Iterator[str]:
    """Fetch visitors, and the crates of the senders over QUIC where they are named; yield what was fetched."""
    if crates.NAME in names:
        yield f"{crates.NAME}: the crates of lab/kernel/quic/Cargo.lock, each under a licence of its own"
        yield f"  {crates.fetch(mirror)}"
    visitors = [name for name in names if name != crates.NAME]
    if visitors or everything or not names:
        yield from fetch(chosen(visitors, everything), mirror)


def _built(source: OwnSource, virtual: Virtual, console: Console) -> OwnModule:
    """Build a source; its warnings are its authors' and not printed, its errors are all printed."""
    try:
        return build_own(source, virtual_tree(virtual.kernel))
    except BuildError as error:
        console.print("\n".join(line for line in error.lines if line != str(error)), soft_wrap=True, markup=False)
        raise


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
