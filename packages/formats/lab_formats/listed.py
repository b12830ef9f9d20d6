# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab traces formats`, `list` and `show`: the formats that the lab imports, and the recordings, as tables and text."""

import inspect
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import get_args

from rich.console import Group
from rich.table import Table
from rich.text import Text

from lab.base import paths
from lab.traces.datasets import Dataset, datasets
from lab.traces.importers import choices_of, known_formats, options_of
from lab.traces.recording import Recording
from lab_formats.shown.panels import panels
from lab_formats.shown.terminal import drawn

HEADER = ("format", "file", "gives", "options")
Row = tuple[str, str, str, str]
DAY_S = 86_400


def rows() -> list[Row]:
    """Return one row per format, by name."""
    return [(one.name, one.reads, one.gives, _options(options_of(one))) for one in known_formats().values()]


def markdown() -> str:
    """Return the table as Markdown."""
    table = [HEADER, ("---",) * len(HEADER), *((f"`{name}`", *rest) for name, *rest in rows())]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in table)


def _options(options: dict[str, inspect.Parameter]) -> str:
    return ", ".join(f"{name}{_choices(one)}" for name, one in options.items())


def _choices(option: inspect.Parameter) -> str:
    """Return the values that an option takes, where they are few."""
    kinds = get_args(option.annotation) or (option.annotation,)
    if choices := choices_of(option):
        return f" ({', '.join(choices)})"
    return " (yes, no)" if bool in kinds else " (file)" if Path in kinds else ""


def listing() -> Group:
    """Return every recording under its collection: what is recorded, how long, fetched or not."""
    parts: list[Text | Table] = []
    for collection, members in groupby(datasets().values(), key=lambda each: each.collection):
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        rows = list(members)
        origin = rows[0].origin
        parts.append(Text.assemble((collection, "bold"), f"  {origin.terms}\n{origin.link}"))
        for row in rows:
            table.add_row(*cells(row))
        parts += [table, Text()]
    return Group(*parts, _total())


def cells(row: Dataset) -> list[str]:
    """Return the cells of one recording: name, quantities, length, fetched or not."""
    name = row.name.removeprefix(f"{row.collection}/")
    return [f"  {name}", ", ".join(row.recorded), _length(row.length_s), "fetched" if row.fetched else ""]


def _length(length_s: float | None) -> str:
    if length_s is None:
        return "no length given"
    return f"{length_s:.0f} s" if length_s < 2 * DAY_S else f"{length_s / DAY_S:.0f} days, with pauses"


def _total() -> Text:
    fetched = sum(each.fetched for each in datasets().values())
    return Text(f"{len(datasets())} recordings, {fetched} of them fetched; 'lab traces fetch NAME' fetches one.")


def show(recording: Recording, name: str, out: Path | None, width: int) -> Iterator[str]:
    """Yield the lines of a recording's figures in a terminal, after writing them as SVG and PNG."""
    from lab.figures.save import save
    from lab_formats.figures import recording as drawing

    what = f"{recording.kind} of {recording.meaning}" if recording.meaning else recording.kind
    yield from wrap(f"{name}: {what}", width)
    for panel in panels(recording):
        yield ""
        yield from wrap(panel.in_words(), width)
        yield from drawn(panel, width)
    yield ""
    yield from (line for note in recording.notes for line in wrap(note, width))
    yield from map(str, save(drawing.draw(recording, name).figure, stem(name, out, "show")))


def stem(name: str, out: Path | None, kind: str) -> Path:
    """Return the path of a figure without its suffix: in the user's folder, else in results/traces."""
    folder = out or paths.results() / "traces"
    folder.mkdir(parents=True, exist_ok=True)
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name).strip("-.")
    return folder / f"{plain}-{kind}"
