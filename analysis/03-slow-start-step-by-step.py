# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# <!-- SPDX-License-Identifier: GPL-2.0-or-later -->
# # What does slow start look like, step by step, and what does SEARCH measure of it?
#
# One download without HyStart and one of SEARCH over a GEO link: figures 2.1 and 4.1 to 4.6 of the thesis, figure 3 of
# the WiFi paper, and the GEO examples of the NetDev talk. The papers draw some of these as theory; here each is
# a stored trial, the one with the median exit time.

# %% tags=["parameters"]
results_dir = "../results"  # runs of the scenarios
scenarios = {  # of each list, the first scenario that has been run
    "GEO": ["thesis-geo", "geo", "sample"],
    "examples": ["netdev-geo", "thesis-geo", "geo", "sample"],
}
replay_library = None  # the compiled SEARCH core, to replay it over the ACKs of the other senders
out_dir = None  # where to write what the page shows; nowhere when None

# %%
from pathlib import Path

from IPython.display import display
from lab_papers.figures import bin_windows, bins_error, case_study, rounds, sent_delivered, slow_start
from lab_papers.figures.replayed import replayed
from lab_papers.fullest import first_stored
from lab_papers.index.artefacts import Artefacts

from lab.figures.subject import subjects

page = Artefacts.into(out_dir)
library = Path(replay_library) if replay_library else None
run = first_stored(Path(results_dir), scenarios["GEO"])
by_cca = {subject.sender.name: subject for subject in replayed(run, library)} if run else {}
plain, search = by_cca.get("cubic_plain"), by_cca.get("search2", by_cca.get("search"))

# %% [markdown]
# ## Without HyStart: doubling until something is lost

# %%
display(
    page.figure("thesis-2.1", "thesis, figure 2.1", slow_start.draw(plain), run)
    if plain
    else page.pending("thesis-2.1", "thesis, figure 2.1", "no GEO run has a valid trial without HyStart")
)

# %%
display(
    page.figure("thesis-4.1", "thesis, figure 4.1", slow_start.draw_beginning(plain), run)
    if plain
    else page.pending("thesis-4.1", "thesis, figure 4.1", "no GEO run has a valid trial without HyStart")
)

# %% [markdown]
# ## What SEARCH measures: rounds, windows, bins

# %%
measured = {
    "thesis-4.2": ("thesis, figure 4.2", bins_error.draw),
    "thesis-4.3": ("thesis, figures 4.3 and 4.6; WiFi paper, figure 3", rounds.draw),
    "thesis-4.4": ("thesis, figure 4.4", bin_windows.draw),
    "thesis-4.5": ("thesis, figure 4.5", sent_delivered.draw),
}
for name, (source, draw) in measured.items():
    display(
        page.figure(name, source, draw(search), run)
        if search
        else page.pending(name, source, "no GEO run has a valid trial of SEARCH")
    )

# %% [markdown]
# ## Side by side

# %%
compared = first_stored(Path(results_dir), scenarios["examples"])
side_by_side = list(subjects(compared.run, compared.judged.outcomes)) if compared else []
display(
    page.figure(
        "netdev-geo",
        "NetDev talk, GEO case study by examples",
        case_study.draw(side_by_side) if side_by_side else None,
        *([compared] if compared else []),
    )
)
