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
# # Which window, threshold and bins should SEARCH have?
#
# Figures 4.7 and 4.9 to 4.15 of the thesis. The maps replay the algorithm's core over the ACK streams of downloads
# without HyStart. `lab evaluate` builds their tables, against the rule of the papers and against the true capacity.

# %% tags=["parameters"]
results_dir = "../results"  # runs of the scenarios, and evaluation/
scenarios = {  # of each list, the first scenario that has been run
    "GEO": ["thesis-geo", "geo", "sample"],
    "LEO": ["thesis-leo"],
    "4G LTE": ["thesis-lte"],
}
out_dir = None  # where to write what the page shows; nowhere when None

# %%
from pathlib import Path

from IPython.display import display
from lab_papers.evaluation.kept import evaluation
from lab_papers.figures import norm_by_round, rtt_average, rtt_extremes, sensitivity
from lab_papers.fullest import first_stored
from lab_papers.index.artefacts import Artefacts

page = Artefacts.into(out_dir)
runs = [run for names in scenarios.values() if (run := first_stored(Path(results_dir), names))]
missing = [name for name, names in scenarios.items() if not any(run.name in names for run in runs)]
missing

# %% [markdown]
# ## The window: how round trips swing before the link is full

# %%
display(page.figure("thesis-4.7", "thesis, figure 4.7", rtt_average.draw(runs), *runs))

# %% [markdown]
# ## The threshold: theory, and what SEARCH recorded

# %%
display(page.figure("thesis-4.9", "thesis, figure 4.9", norm_by_round.draw(runs), *runs))

# %% [markdown]
# ## Maps: window and threshold, bins, extra bins

# %%
maps = evaluation(Path(results_dir), "sensitivity")
kinds = {"4.10 and 4.11": "window-threshold", "4.12": "bins", "4.15": "extra-bins"}
for figure, kind in kinds.items():
    for link, names in scenarios.items():
        for judge in sensitivity.JUDGES:
            name, source = (
                f"thesis-{kind}-{link.split()[-1].lower()}-{judge}",
                f"thesis, figure {figure}, {link}, {sensitivity.JUDGES[judge]}",
            )
            drawing = None if maps is None else sensitivity.draw(maps, kind, judge, names[0], link)
            display(
                page.figure(name, source, drawing)
                if drawing
                else page.pending(name, source, "the sensitivity of its scenario has not been evaluated")
            )

# %% [markdown]
# ## Extra bins: how far round trips grow

# %%
display(page.figure("thesis-4.13", "thesis, figures 4.13 and 4.14", rtt_extremes.draw(runs), *runs))
