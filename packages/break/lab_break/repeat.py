# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab break --repeat`: a find on this machine, packet for packet."""

from pathlib import Path

import typer
from rich.console import Console

from lab.base.errors import field_error
from lab.base.scratch import scratch_folder
from lab.commands.lines import say
from lab.runs.options import RunOptions
from lab_break.command import bench_of
from lab_break.find import FindJson, read_find
from lab_break.own import is_file
from lab_break.request import Request

DIFFERENT = 1


def repeated(sender: str, file: Path, options: RunOptions, console: Console) -> None:
    """Run each trial of a find again; exit status 1 where one differs. A source may lie elsewhere than it did."""
    found = read_find(file)
    request = Request.restored(found["request"], sender, file)
    was = str(found["request"]["sender"])
    if sender != was and not (is_file(sender) and is_file(was)):
        raise field_error(file, "request.sender", was, f"{sender}, as on the command line")
    expected = {sender if name == was else name: each for name, each in found["trials"].items()}
    _require_whole(found, request, list(expected), file)
    with scratch_folder() as store, bench_of(request, options, console, store) as bench:
        (trials,) = bench.run([found["point"]], list(expected))
    others = [name for name, numbers in trials.items() if numbers != expected[name]]
    for name, numbers in trials.items():
        verdict = "DIFFERENT" if name in others else "SAME"
        say(console, f"{verdict} {name}: packets {numbers['packets']}, stored {expected[name]['packets']}")
    if others:
        changed = [name for name, digest in found["kernel"].items() if bench.shared[name] != digest]
        say(console, f"differs from where it was found: {', '.join(changed) or 'nothing that is known'}")
        raise typer.Exit(DIFFERENT)


def _require_whole(found: FindJson, request: Request, names: list[str], file: Path) -> None:
    """Refuse a find that lacks a parameter, or trials of other senders than its request has."""
    lacking = [name for name in request.bounds.usual if name not in found["point"]]
    if lacking:
        raise field_error(file, f"point.{lacking[0]}", "", "given")
    if sorted(names) != sorted(request.everyone):
        raise field_error(file, "trials", ", ".join(names), f"those of {', '.join(request.everyone)}")
