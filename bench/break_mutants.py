# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure how soon `lab break --measure differs` finds faults that were put into senders on purpose.

`python -m bench.break_mutants [WORDS...]` tries those of packages/break/tests/mutants.toml whose name holds a word, and
writes results/bench/break-mutants.json. Each sender without a change comes first: it must differ nowhere.
"""

import shutil
import sys
import tomllib
from pathlib import Path
from typing import TypedDict

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
BOUNDS = "handover"  # no data is lost at random, which would end all slow starts alike
BUDGET = 500  # trials of both senders
CONTROL = 32
CUBIC = "'\"$(abspath $(srctree))/net/ipv4/tcp_cubic.c\"'"
SHARED = ("kernel_cubic.h", "bounded_param.h", "no_memory_flows.h", "search_shim.h")
PREFIXES = {"hystartpp": ("hystartpp_", "tcp_hystartpp"), "search": ("search_", "tcp_search_", "tcp_search.")}
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


class Change(TypedDict):
    """One fault."""

    name: str
    sender: str
    file: str
    old: str
    new: str


def main(words: list[str]) -> None:
    """Try the changes, and store how many trials each needed."""
    changes: list[Change] = tomllib.loads(FILE.read_text())["change"]
    chosen = [each for each in changes if not words or any(word in each["name"] for word in words)]
    rows = [_tried(sender, None) for sender in sorted({each["sender"] for each in chosen})]
    rows += [_tried(each["sender"], each) for each in chosen]
    print(measured.store("break-mutants", "python -m bench.break_mutants", rows))


def _tried(sender: str, change: Change | None) -> measured.Figure:
    """Search with a change until it is found; without one through a whole budget, which finds nothing."""
    with scratch_folder() as scratch:
        folder = scratch / sender
        _copied(sender, change, folder)
        budget = BUDGET if change else CONTROL
        request = Request.of(
            str(folder),
            "differs",
            (BOUNDS, load_bounds(BOUNDS)),
            "cubic",
            sender,
            budget,
            1,
            "tpe",
            1,
            True,
        )
        request.write()
        with bench_of(request, RunOptions(), console) as bench:
            found = finds(request, searched(request, 1, bench, console))
        shutil.rmtree(request.folder)
    name = change["name"] if change else "unchanged"
    trials = found[0] * len(request.senders) if found else None
    say(console, f"{sender}: {name}: {'not found' if trials is None else f'found by trial {trials}'}")
    return {"name": f"{sender}, {name}", "value": trials, "unit": f"trials until it was found, of {budget}"}


def _copied(sender: str, change: Change | None, folder: Path) -> None:
    """Write a sender's source as a module of its own, with the change."""
    folder.mkdir()
    for file in sorted(SOURCE.glob("*.[ch]")):
        name = file.name
        if not name.startswith((*PREFIXES[sender], *SHARED)):
            continue
        text = file.read_text()
        if change and name == change["file"]:
            if text.count(change["old"]) != 1:
                raise UserError(f"{FILE}: old={change['old']!r}: must stand in {name} once")
            text = text.replace(change["old"], change["new"])
        (folder / name).write_text(_unexported(text))
    (folder / "Kbuild").write_text(KBUILDS[sender])


def _unexported(text: str) -> str:
    """Return a source that gives nothing to other modules: the lab's own of the same names may be loaded."""
    lines = (line for line in text.splitlines(keepends=True) if not line.startswith(("search_export(", "EXPORT_")))
    return "".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
