# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure how soon `lab break --measure differs` finds faults that were put into senders on purpose.

`python -m bench.break_mutants [WORDS...]` tries those of packages/break/tests/mutants.toml whose name holds a word, and
writes results/bench/break-mutants.json. Each sender without a change comes first: it must differ nowhere.
"""

import shutil
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

from lab_break.command import bench_of, finds, searched
from lab_break.request import Request
from lab_break.space import load_bounds

from bench import measured
from lab.base.errors import UserError
from lab.base.paths import LAB, REPO
from lab.base.scratch import scratch_folder
from lab.commands.cli_options import console
from lab.commands.lines import say
from lab.runs.options import RunOptions

FILE = REPO / "packages" / "break" / "tests" / "mutants.toml"
SOURCE = LAB / "kernel" / "search"
BOUNDS = ("uplink", "handover")  # no data is lost at random, which would end all slow starts alike
BUDGET = 500  # trials of both senders, in equal parts over the bounds
CONTROL = 32
CUBIC = "'\"$(abspath $(srctree))/net/ipv4/tcp_cubic.c\"'"
SHARED = ("kernel_cubic.h", "bounded_param.h", "no_memory_flows.h", "search_shim.h")
PREFIXES = {"hystartpp": ("hystartpp_", "tcp_hystartpp"), "search": ("search_", "tcp_search_", "tcp_search.")}
EXPORTS = ("search_export(", "EXPORT_")
KBUILDS = {
    "hystartpp": f"""obj-m := tcp_hystartpp.o
tcp_hystartpp-y := tcp_hystartpp_main.o hystartpp_core.o
CFLAGS_tcp_hystartpp_main.o := -DKERNEL_CUBIC_SOURCE={CUBIC}
""",
    "search": f"""obj-m := tcp_search_own.o
tcp_search_own-y := tcp_search.o search_module.o search_core.o search_compare.o search_params.o search_compact.o
CFLAGS_tcp_search.o := -DKERNEL_CUBIC_SOURCE={CUBIC}
CFLAGS_search_module.o := -I$(src)
""",
}


class Edit(TypedDict):
    """A text of a file, and what stands there instead."""

    file: str
    old: str
    new: str


class Change(Edit):
    """One fault."""

    name: str
    sender: str
    also: NotRequired[Edit]  # a parameter's value that the sender without the fault has, too


def main(words: list[str]) -> None:
    """Try the changes, and store how many trials each needed."""
    changes: list[Change] = tomllib.loads(FILE.read_text())["change"]
    chosen = [each for each in changes if not words or any(word in each["name"] for word in words)]
    rows = [_tried(sender, None) for sender in sorted({each["sender"] for each in chosen})]
    rows += [_tried(each["sender"], each) for each in chosen]
    measured.show_and_store("break-mutants", "python -m bench.break_mutants", rows)


def _tried(sender: str, change: Change | None) -> measured.Figure:
    """Search with a change until it is found; without one through a whole budget, which finds nothing."""
    name, most = (change["name"], BUDGET) if change else ("unchanged", CONTROL)
    also = [change["also"]] if change and "also" in change else []
    with scratch_folder() as scratch:
        folder, version = scratch / sender, scratch / "before"
        _copied(sender, [change, *also] if change else [], folder)
        if also:
            _copied(sender, also, version)
        trials = _trials_until_found(str(folder), str(version) if also else sender, most)
    say(console, f"{sender}: {name}: {'not found' if trials is None else f'found by trial {trials}'}")
    return {"name": f"{sender}, {name}", "value": trials, "unit": f"trials until it was found, of {most}"}


def _trials_until_found(sender: str, version: str, most: int) -> int | None:
    """Search each of the bounds with its part of the trials; None where none has a find."""
    part = most // len(BOUNDS)
    for before, name in enumerate(BOUNDS):
        bounds = (name, load_bounds(name))
        request = Request.of(sender, "differs", bounds, "cubic", version, part, 1, "tpe", 1, True)
        request.write()
        with bench_of(request, RunOptions(), console) as bench:
            found = finds(request, searched(request, 1, bench, console))
        shutil.rmtree(request.folder)
        if found:
            return before * part + found[0] * len(request.senders)
    return None


def _copied(sender: str, edits: Sequence[Edit], folder: Path) -> None:
    """Write a sender's source, with the edits, as a module of its own."""
    folder.mkdir()
    for file in sorted(SOURCE.glob("*.[ch]")):
        if file.name.startswith((*PREFIXES[sender], *SHARED)):
            (folder / file.name).write_text(_edited(file, edits))
    (folder / "Kbuild").write_text(KBUILDS[sender])


def _edited(file: Path, edits: Sequence[Edit]) -> str:
    """Return a source with the edits, that gives nothing to other modules: the lab's own of its name may be loaded."""
    text = file.read_text()
    for edit in edits:
        if edit["file"] == file.name:
            if text.count(edit["old"]) != 1:
                raise UserError(f"{FILE}: old={edit['old']!r}: must stand in {file.name} once")
            text = text.replace(edit["old"], edit["new"])
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(EXPORTS))


if __name__ == "__main__":
    main(sys.argv[1:])
