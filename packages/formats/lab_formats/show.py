# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab traces show`: a recording in the terminal, and as a figure in files."""

from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

from lab.base import paths
from lab.traces.recording import Recording
from lab_formats.shown.panels import panels
from lab_formats.shown.terminal import drawn


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
