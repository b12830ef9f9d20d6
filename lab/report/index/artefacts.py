# SPDX-License-Identifier: GPL-2.0-or-later
"""What a notebook hands to the page: figures and tables of the seeds, each as files, listed in one manifest."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from IPython.display import Image, Markdown

from lab.figures.save import pdf, png, svg
from lab.figures.style import Drawing, footnote
from lab.judge.files import write_whole
from lab.judge.provenance import provenance
from lab.judge.stored import Stored
from lab.report import latex, markdown
from lab.report.table import Group, Row, Table

MANIFEST = "artefacts.json"


@dataclass
class Artefacts:
    """Where a notebook's figures and tables go; nowhere when the folder is null, for one only looks at them then."""

    folder: Path | None
    listed: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def into(cls, out_dir: str | None) -> "Artefacts":
        """Open a folder, made if it is not there."""
        folder = Path(out_dir) if out_dir else None
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
        return cls(folder)

    def figure(self, name: str, seed: str, drawing: Drawing | None, *sources: Stored) -> Image | Markdown:
        """Keep a figure, with where its links come from below it; one that has nothing to show is pending."""
        if drawing is None:
            return self.pending(name, seed, "no stored trial has what it shows")
        if len(sources) == 1:
            footnote(drawing.figure, provenance(sources[0].run.meta["profile"]))
        files = self._write({f"{name}.svg": svg(drawing.figure), f"{name}.pdf": pdf(drawing.figure)})
        self._list(name, seed, "figure", caption=_from(drawing.caption, sources), alt=drawing.alt, files=files)
        return Image(png(drawing.figure), alt=drawing.alt)  # type: ignore[no-untyped-call]

    def table(self, seed: str, table: Table) -> Markdown:
        """Keep a table as CSV, LaTeX and Markdown."""
        lines = (
            [table.group_header, *table.header],
            *((group.label, *row.cells) for group in table.groups for row in group.rows),
        )
        text = markdown.render(table.name, (), (table,))
        contents = {
            f"{table.name}.csv": "".join(",".join(map(_quoted, line)) + "\n" for line in lines),
            f"{table.name}.tex": latex.render((), (table,)),
            f"{table.name}.md": text,
        }
        self._list(table.name, seed, "table", table=asdict(table), files=self._write(contents))
        return Markdown(text)  # type: ignore[no-untyped-call]

    def data(self, name: str, seed: str, frame: pl.DataFrame) -> None:
        """Keep a table of numbers as CSV and Parquet, as a download beside its figure."""
        if self.folder:
            frame.write_csv(self.folder / f"{name}.csv", float_precision=6)
            frame.write_parquet(self.folder / f"{name}.parquet")
        self._list(name, seed, "data", files=[f"{name}.csv", f"{name}.parquet"])

    def pending(self, name: str, seed: str, why: str) -> Markdown:
        """Say what cannot be shown yet, and why."""
        self._list(name, seed, "pending", why=why)
        return Markdown(f"*Pending: {seed}: {why}.*")  # type: ignore[no-untyped-call]

    def left_out(self, name: str, seed: str, why: str) -> Markdown:
        """Say what no emulator can show, and why."""
        self._list(name, seed, "left out", why=why)
        return Markdown(f"*Left out: {seed}: {why}.*")  # type: ignore[no-untyped-call]

    def _list(self, name: str, seed: str, kind: str, **rest: Any) -> None:
        self.listed.append({"name": name, "seed": seed, "kind": kind} | rest)
        if self.folder:
            write_whole(self.folder / MANIFEST, json.dumps(self.listed, indent=1))

    def _write(self, contents: Mapping[str, str | bytes]) -> list[str]:
        if self.folder:
            for name, content in contents.items():
                write_whole(self.folder / name, content)
        return list(contents)


def read_table(given: Mapping[str, Any]) -> Table:
    """A table out of a manifest."""
    groups = tuple(
        Group(group["label"], tuple(Row(tuple(row["cells"]), row["published"]) for row in group["rows"]))
        for group in given["groups"]
    )
    rest = {"header": tuple(given["header"]), "groups": groups, "notes": tuple(given["notes"])}
    return Table(**{**given, **rest})


def _from(caption: str, sources: tuple[Stored, ...]) -> str:
    told = ", ".join(f"{source.name} ({source.judged.trials['valid'].sum()} valid trials)" for source in sources)
    return f"{caption} From {told}." if told else caption


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(character in cell for character in ',"\n') else cell
