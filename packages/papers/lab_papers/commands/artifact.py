# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab artifact`: everything for a deposit, from the stored runs."""

from collections.abc import Iterator
from pathlib import Path

from lab.base import paths
from lab.base.commit import commit
from lab_papers.artifact import appendix, facts, markdown
from lab_papers.artifact.deposit import write_deposit
from lab_papers.commands.verify import claims_of


def write(bundle: Path | None, folder: Path) -> Iterator[str]:
    """Write the folder, and yield a line for each file, then what is missing."""
    version = commit() or "unknown"
    claims, _, faults = claims_of(paths.results(), [])
    lines = facts.lines(paths.results(), claims)
    texts = {"ARTIFACT.md": markdown.render(lines, version), "appendix.tex": appendix.render(lines, version)}
    for file in write_deposit(folder, texts, version, bundle):
        yield f"{file.stat().st_size / 1e6:9.1f} MB  {file}"
    unmeasured = [line.claim.name for line in lines if line.cost.compute_min is None]
    if unmeasured:
        yield f"not measured: {', '.join(unmeasured)}: their runs are not stored whole: make reproduce"
    if not (folder / "search-lab.bundle").exists():
        yield "no bundle: lab bundle make FILE --with recordings,wheels, then make artifact BUNDLE=FILE"
    yield from faults
