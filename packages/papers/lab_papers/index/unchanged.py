# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the page of all results is as new as all that it was made from: then it is not written again.

What is stored is compared by sizes and times, as make(1) does; the page's own files are compared by their content. So
damage that leaves both as they were is met when a trial is read, and not here.
"""

import os
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from lab_compare.record import FOLDER as COMPARISONS

from lab.base import paths
from lab.images import image
from lab.kernel import build
from lab.report import kept
from lab.report.browser.pack import KEPT as PACKED
from lab.runs.run_folder import LATEST
from lab.tables.digests import digest_of
from lab_papers.evaluation.kept import FOLDER as EVALUATION
from lab_papers.index.notebooks import FOLDER as EXECUTED
from lab_papers.index.notebooks import LIBRARIES, NOTEBOOKS

PAGE = "index.html"
OF_RUNS = ("*/*/report.html", "*/*/*.csv", "*/*/*.parquet")
MADE = (PAGE, "heuristics.html", "summary.*", "*.svg", "*.pdf", f"{EXECUTED}/**/*", *OF_RUNS)
READ = (f"{EVALUATION}/*", f"{COMPARISONS}/*/*.html")
NOT_READ = ("LAB_RESULTS", "LAB_CACHE")  # as a whole
State = tuple[str, int, int]  # path, size, time of the last change


def unchanged(results: Path, replay_library: Path | None, notebooks: Path = NOTEBOOKS) -> Path | None:
    """Return the page where nothing changed since it was written; else none."""
    page = results.resolve() / PAGE
    is_kept = page.exists() and kept.kept(page.parent, page_key(page.parent, replay_library, notebooks))
    return page if is_kept else None


def keep(results: Path, key: str) -> None:
    """Note that the page was written; key: from before it was."""
    kept.keep(results, key, sorted(file for made in MADE for file in results.glob(made) if file.is_file()))


def page_key(results: Path, replay_library: Path | None, notebooks: Path = NOTEBOOKS) -> str:
    """Return the digest of the state of all that the page is made from: runs, tables, the user's files, the code."""
    library = None if replay_library is None else digest_of(replay_library)
    used = [str(build.find()), str(image.find("world")), *map(version, LIBRARIES)]
    latest = sorted((str(each), str(each.resolve())) for each in results.glob(f"*/{LATEST}"))
    return kept.key_of(str(results), latest, sorted(_states(results, notebooks)), library, used)


def _states(results: Path, notebooks: Path) -> Iterator[State]:
    for run in {file.parent.resolve() for file in results.glob("*/*/run.json")}:
        yield from map(_state, run.glob("run.json*"))
        stored = _below(run / "trials")
        yield from (each for each in stored if not Path(each[0]).name.startswith(PACKED))  # made by the page itself
    for file in [*notebooks.glob("*.py"), *(file for read in READ for file in results.glob(read))]:
        yield _state(file)
    named = [Path(value) for name, value in os.environ.items() if name.startswith("LAB_") and name not in NOT_READ]
    for folder in [paths.cache() / "traces", *(each for each in named if each.is_dir())]:
        yield from _below(folder)


def _below(folder: Path) -> Iterator[State]:
    for place, _, names in os.walk(folder):
        for name in names:
            yield _state(Path(place, name))


def _state(file: Path) -> State:
    try:
        found = file.stat()
    except OSError:  # it has just ended, or is a link to nothing
        return str(file), -1, -1
    return str(file), found.st_size, found.st_mtime_ns
