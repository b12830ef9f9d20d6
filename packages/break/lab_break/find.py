# SPDX-License-Identifier: GPL-2.0-or-later
"""A find: the smallest link that shows a sender's weakness, as files that repeat it anywhere."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

import typer
import yaml
from rich.console import Console

from lab.base.contract import read_checked
from lab.base.errors import field_error
from lab.base.plain_file import write_whole
from lab.base.scratch import scratch_folder
from lab.commands.lines import say
from lab.runs.options import RunOptions
from lab_break.command import bench_of
from lab_break.measures import Trials
from lab_break.numbers import Numbers
from lab_break.own import is_file
from lab_break.request import Request, RequestJson
from lab_break.space import Point, content_of, profile_of

FILE, LINK = "find.json", "link.yml"
FORMAT = 1


class FindJson(TypedDict):
    """find.json."""

    format: Annotated[int, "version of the stored form"]
    request: Annotated[RequestJson, "the search"]
    value: Annotated[float, "the link's value by the measure", ""]
    point: Annotated[dict[str, float | str], "the link's parameters"]
    kernel: Annotated[dict[str, str], "digests of kernel, modules and world"]
    trials: Annotated[dict[str, Numbers], "each sender on the link"]


@dataclass(frozen=True)
class Find:
    """A link, and who did what on it."""

    request: Request
    point: Point
    value: float
    trials: Trials
    kernel: dict[str, str]

    @property
    def link(self) -> Path:
        """Return the profile's file."""
        return self.request.folder / LINK

    @property
    def digest(self) -> str | None:
        """Return the digest of the sender's packets; None where it gave no result."""
        return self.trials[self.request.sender]["packets"]

    def write(self) -> Path:
        """Write find.json and the profile; return the first."""
        request = self.request
        title = f"{request.sender} is worst here by `{request.measure.name}`, within {request.bounds.title}"
        value = f"{self.value:.3g} {request.measure.unit}"
        source = f"found by lab break {request.sender} --measure {request.measure.name}: {value}"
        text = yaml.safe_dump(content_of(self.point, title, source), sort_keys=False, allow_unicode=True, width=110)
        write_whole(self.link, f"# SPDX-License-Identifier: GPL-2.0-or-later\n{text}")
        stored: FindJson = {
            "format": FORMAT,
            "request": request.stored,
            "value": self.value,
            "point": dict(self.point),
            "kernel": self.kernel,
            "trials": dict(self.trials),
        }
        return write_whole(request.folder / FILE, json.dumps(stored, indent=1))


def read_find(file: Path) -> FindJson:
    """Read find.json; UserError where it is none."""
    content: FindJson = read_checked(file, FindJson, absent=": must be the find.json of a search")
    return content


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
