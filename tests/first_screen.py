# SPDX-License-Identifier: GPL-2.0-or-later
"""A results folder of modelled downloads over three links: for tests and pictures of the first screen."""

from pathlib import Path
from typing import Any

from lab_papers.index.write import write_index

from lab.judge.stored import Stored
from lab.tables.stored_run import Run
from tests import slow_start_model as model
from tests.brief import folder_at
from tests.stored_run import change, store_run

LINKS = {
    "geo-viasat": (
        "GEO satellite, modelled",
        model.Path(rate_mbps=8, base_rtt_ms=200, buffer_bytes=600_000, duration_s=4),
    ),
    "leo-starlink": (
        "LEO satellite, modelled",
        model.Path(rate_mbps=8, base_rtt_ms=60, buffer_bytes=300_000, duration_s=4),
    ),
    "wifi-strong": ("WiFi, modelled", model.Path(rate_mbps=12, base_rtt_ms=30, buffer_bytes=120_000, duration_s=4)),
}
PUBLISHED_PCT = {"geo-viasat": (93.5, 0), "leo-starlink": (39, 0), "wifi-strong": (91, 89.2)}
SENDERS = ("search", "cubic", "cubic_plain", "bbr")

CHAPTER = """# %% [markdown]
# # A chapter with a figure
# %% tags=["parameters"]
out_dir = None
# %%
from matplotlib.figure import Figure
from lab.figures.style import Drawing
from lab_papers.index.artefacts import Artefacts
drawn = Figure(figsize=(7, 3))
drawn.subplots().plot([0, 1], [0, 1], label="a line")
drawing = Drawing(drawn, "A caption.", "A line from 0 to 1, as an example.")
Artefacts.into(out_dir).figure("one", "thesis, figure 0.0", drawing)
"""


def example(results: Path, trials: int = 2, chapter: str = CHAPTER) -> Path:
    """Store a run per link and make the page with one chapter, or with none; the runs' own pages are empty."""
    for profile, (title, link) in LINKS.items():
        run = store_run(results, trials, name=f"example-{profile}", link=link, senders=SENDERS)
        scenario = {"profile": profile, "published": _published(profile)}
        change(run, scenario=scenario, profile={"title": title}, seeds=list(range(1, trials + 1)))
        (run.parent / "latest").symlink_to(run.name)
        Stored.of(Run(run))  # its outcomes are older than its page, which is then not drawn
        (run / "report.html").write_text("<!doctype html><title>The run's own page</title>")
    notebooks = folder_at(results / "example")
    if chapter:
        (notebooks / "01-chapter.py").write_text(chapter)
    return write_index(results, None, notebooks)


def _published(profile: str) -> list[dict[str, Any]]:
    search_pct, hystart_pct = PUBLISHED_PCT[profile]
    return [
        {"cca": "search", "source": "thesis, table 5.3", "chokepoint_pct": search_pct},
        {"cca": "cubic", "source": "thesis, table 5.3", "chokepoint_pct": hystart_pct},
    ]


TWO = ("search", "cubic")


def of_link(results: Path, name: str) -> Stored:
    """Store a run of two trials of SEARCH and CUBIC over one of the links."""
    title, link = LINKS[name]
    run = store_run(results, 2, name=name, link=link, senders=TWO)
    change(run, scenario={"profile": name}, profile={"title": title})
    return Stored.of(Run(run))
