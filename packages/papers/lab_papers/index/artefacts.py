# SPDX-License-Identifier: GPL-2.0-or-later
"""What a notebook hands to the page: figures and tables of the papers, each as files, listed in one manifest."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path

import polars as pl
from IPython.display import Image, Markdown

from lab.base.plain_file import write_whole
from lab.figures.save import pdf, png, svg
from lab.figures.style import Drawing
from lab.judge.provenance import mark, provenance
from lab.judge.stored import Stored
from lab.report.table import Table
from lab.report.table_files import table_files
from lab.tables.columns import Described
from lab.tables.csv_text import to_csv
from lab.tables.stored_parquet import write_exact
from lab_papers.index.manifest import MANIFEST, MANIFEST_FORM, Artefact


@dataclass
class Artefacts:
    """Takes a notebook's figures and tables; without a folder it only shows them."""

    folder: Path | None
    listed: list[Artefact] = field(default_factory=list)

    @classmethod
    def into(cls, out_dir: str | None) -> "Artefacts":
        """Open a folder; it is created where it does not exist."""
        folder = Path(out_dir) if out_dir else None
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
        return cls(folder)

    def figure(self, name: str, source: str, drawing: Drawing | None, *runs: Stored) -> Image | Markdown:
        """Keep a figure, with the provenance of its link in its files; a figure without a drawing is pending."""
        if drawing is None:
            return self.pending(name, source, "no stored trial has the data for it")
        if len(runs) == 1:
            profile = runs[0].run.meta["profile"]
            drawing = replace(drawing, provenance=provenance(profile), caption=f"{drawing.caption} {mark(profile)}.")
        files = self._write(
            {f"{name}.{form}": save(drawing.figure, drawing.about) for form, save in (("svg", svg), ("pdf", pdf))}
        )
        self._list(Artefact(name, source, "figure", files, _with_runs(drawing.caption, runs), drawing.alt))
        return Image(png(drawing.figure), alt=drawing.alt)  # type: ignore[no-untyped-call]

    def table(self, source: str, table: Table) -> Markdown:
        """Keep a table as CSV, LaTeX and Markdown."""
        contents = table_files(table)
        self._list(Artefact(table.name, source, "table", self._write(contents), table=table))
        return Markdown(contents[f"{table.name}.md"])  # type: ignore[no-untyped-call]

    def data(self, name: str, source: str, frame: pl.DataFrame, about: Described) -> None:
        """Keep a table of numbers as CSV and Parquet, as a download next to its figure."""
        if self.folder:
            write_whole(self.folder / f"{name}.csv", to_csv(frame, float_precision=6))
            write_exact(frame, content := BytesIO(), about)
            write_whole(self.folder / f"{name}.parquet", content.getvalue())
        self._list(Artefact(name, source, "data", (f"{name}.csv", f"{name}.parquet")))

    def pending(self, name: str, source: str, why: str) -> Markdown:
        """List what cannot be shown yet, and why."""
        self._list(Artefact(name, source, "pending", why=why))
        return Markdown(f"*Pending: {source}: {why}.*")  # type: ignore[no-untyped-call]

    def left_out(self, name: str, source: str, why: str) -> Markdown:
        """List what no emulator can show, and why."""
        self._list(Artefact(name, source, "left out", why=why))
        return Markdown(f"*Left out: {source}: {why}.*")  # type: ignore[no-untyped-call]

    def _list(self, artefact: Artefact) -> None:
        self.listed.append(artefact)
        if self.folder:
            write_whole(self.folder / MANIFEST, MANIFEST_FORM.dump_json(self.listed, indent=1))

    def _write(self, contents: Mapping[str, str | bytes]) -> tuple[str, ...]:
        if self.folder:
            for name, content in contents.items():
                write_whole(self.folder / name, content)
        return tuple(contents)


def _with_runs(caption: str, runs: tuple[Stored, ...]) -> str:
    """Name the runs that a figure is drawn from."""
    named = ", ".join(f"{run.name} ({run.judged.trials['valid'].sum()} valid trials)" for run in runs)
    return f"{caption} From {named}." if named else caption
