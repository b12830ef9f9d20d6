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
from lab_break.space import profile_of

DIFFERENT = 1


def repeated(sender: str, file: Path, options: RunOptions, console: Console) -> None:
    """Run each trial of a find again; exit status 1 where one differs. A source may lie elsewhere than it did."""
    found, request = whole_find(sender, file)
    was = found["request"]["sender"]
    expected = {sender if name == was else name: each for name, each in found["trials"].items()}
    with scratch_folder() as store, bench_of(request, options, console, store) as bench:
        (trials,) = bench.run([found["point"]], list(expected))
    others = [name for name, numbers in trials.items() if numbers != expected[name]]
    for name, numbers in trials.items():
        verdict = "DIFFERENT" if name in others else "SAME"
        say(console, f"{verdict} {name}: packets {numbers['packets']}, stored {expected[name]['packets']}")
    if others:
        changed = [name for name, digest in found["kernel"].items() if bench.shared.get(name) != digest]
        say(console, f"differs from where it was found: {', '.join(changed) or 'nothing that is known'}")
        raise typer.Exit(DIFFERENT)


def whole_find(sender: str, file: Path) -> tuple[FindJson, Request]:
    """Read a find, which may be a stranger's; UserError where its link is none, or trials are of other senders."""
    found = read_find(file)
    request, was = Request.restored(found["request"], sender, file), found["request"]["sender"]
    if sender != was and not (is_file(sender) and is_file(was)):
        raise field_error(file, "request.sender", was, f"{sender}, as on the command line")
    for name, usual in request.bounds.usual.items():
        if isinstance(value := found["point"].get(name), str) != isinstance(usual, str) or value is None:
            raise field_error(file, f"point.{name}", value or "", f"given, as {usual} is")
    profile_of(found["point"], file)
    names = [sender if name == was else name for name in found["trials"]]
    if sorted(names) != sorted(request.everyone):
        raise field_error(file, "trials", ", ".join(names), f"those of {', '.join(request.everyone)}")
    return found, request
