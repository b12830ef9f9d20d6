# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab traces compare`: recorded downloads and those of a run, as tables and a figure."""

from pathlib import Path

from lab_formats.show import stem
from rich.console import Console
from rich.table import Table

from lab_papers.evaluation.recorded.comparison import compare_recorded
from lab_papers.evaluation.recorded.tables import Sheet, sheets


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
