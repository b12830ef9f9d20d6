# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab traces compare` and `lab traces spectrum`: recorded downloads beside a run's, and the cycles of round trips."""

from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

from lab_formats.listed import stem
from lab_formats.shown.terminal import Curve, drawn_curve
from rich.console import Console
from rich.table import Table

from lab.traces.recording import Recording
from lab_papers.evaluation.recorded.comparison import compare_recorded
from lab_papers.evaluation.recorded.tables import Sheet, sheets
from lab_papers.evaluation.spectrum import PUBLISHED, Spectrum, spectrum

MOST_PEAKS = 3
WEAK = 0.25  # of an amplitude above its surroundings


def compare(folder: Path, names: list[str], out: Path | None, console: Console) -> None:
    """Print the tables, and write the figure as SVG, PNG and PDF."""
    from lab.figures.save import save
    from lab_papers.figures import recorded_downloads as drawing

    both = compare_recorded(folder, names)
    for sheet in sheets(both):
        console.print(_shown(sheet))
        console.print(sheet.note, markup=False)
        console.print()
    name = folder.resolve().parent.name
    for file in save(drawing.draw(both).figure, stem(name, out, "beside-recorded")):
        console.print(str(file), soft_wrap=True, markup=False)


def _shown(sheet: Sheet) -> Table:
    table = Table(title=sheet.title, title_justify="left", box=None, pad_edge=False)
    for number, name in enumerate(sheet.header):
        table.add_column(name, justify="right" if number else "left")
    for row in sheet.rows:
        table.add_row(*row)
    return table


def show_spectrum(
    recording: Recording, name: str, window_s: float | None, out: Path | None, width: int
) -> Iterator[str]:
    """Yield the lines of a spectrum and the published cycles, after writing the figure."""
    from lab.figures.save import save
    from lab_papers.figures import rtt_spectrum as drawing

    found = spectrum(recording, window_s)
    what = f"{name}: {found.windows} windows of {found.window_s:.4g} s, a value every {found.step_s:.4g} s"
    yield from (*wrap(what, width), "")
    curve = Curve(found.table["frequency_hz"].to_list(), found.table["amplitude_ms"].to_list(), "Hz", "amplitude (ms)")
    yield from drawn_curve(curve, width)
    yield ""
    yield from _beside_published(found, name)
    yield ""
    yield from (line for note in (*found.notes, *recording.notes) for line in wrap(note, width))
    yield from map(str, save(drawing.draw(found, name).figure, stem(name, out, "spectrum")))


def _beside_published(found: Spectrum, name: str) -> Iterator[str]:
    yield f"{'':24}{'cycle s':>9}{'min RTT ms':>12}{'cycle RTTs':>12}{'amplitude ms':>14}"
    for number, peak in enumerate(found.peaks.head(MOST_PEAKS).iter_rows(named=True)):
        label = "dominant here" if number == 0 else "next"
        yield (
            f"{label:24}{peak['cycle_s']:>9.3g}{found.min_rtt_ms:>12.4g}{peak['cycle_rtts']:>12.2f}"
            f"{peak['amplitude_ms']:>14.3g}"
        )
    for link, (cycle_s, rtt_ms, rtts) in PUBLISHED.items():
        yield f"{f'published, {link}':24}{_number(cycle_s):>9}{_number(rtt_ms):>12}{rtts:>12.2f}"
    yield ""
    if found.rise is None:
        yield f"No peak in {name}: the amplitude only rises or falls."
    else:
        weak = ": hardly a cycle" if found.rise < WEAK else ""
        yield f"{100 * found.rise:.0f} % of the dominant amplitude rise above its surroundings{weak}."
    yield f"Visible: cycles of {found.shortest_rtts:.2f} RTTs (two steps) to {found.longest_rtts:.1f} (half a window)."


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
