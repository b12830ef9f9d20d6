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
# # What does it cost to leave slow start early, or late?
#
# Figures 5.9 to 5.11 of the thesis: medians of strong and weak WiFi, time to download, exit time and retransmissions;
# and the same over a GEO link, as the poster and the NetDev talk show them.

# %% tags=["parameters"]
results_dir = "../results"  # runs of the scenarios
scenarios = {  # of each list, the first scenario that has been run
    "strong WiFi": ["thesis-wifi-strong"],
    "weak WiFi": ["thesis-wifi-weak"],
    "satellite": ["download-geo", "thesis-geo", "geo", "sample"],
}
out_dir = None  # where to write what the page shows; nowhere when None

# %%
from pathlib import Path

from IPython.display import display
from lab_papers.figures import download_times, median_cdf, sender_means
from lab_papers.fullest import first_stored
from lab_papers.index.artefacts import Artefacts

page = Artefacts.into(out_dir)
runs = {name: first_stored(Path(results_dir), names) for name, names in scenarios.items()}
links = {"5.10": runs["strong WiFi"], "5.11": runs["weak WiFi"]}
wifi = [run for run in links.values() if run]
geo = runs["satellite"]

# %% [markdown]
# ## The median throughput of strong and weak WiFi

# %%
display(page.figure("thesis-5.9", "thesis, figure 5.9", median_cdf.draw(wifi), *wifi))

# %% [markdown]
# ## Time to download, exit time, retransmissions

# %%
for figure, run in links.items():
    names = {f"thesis-{figure}a": download_times.draw, f"thesis-{figure}bc": sender_means.draw}
    for name, draw in names.items():
        source = f"thesis, figure {name.removeprefix('thesis-')}"
        display(
            page.figure(name, source, draw([run]), run)
            if run
            else page.pending(name, source, "its scenario has not been run")
        )

# %% [markdown]
# ## The same over a satellite

# %%
satellite = {
    "download-times": ("poster and NetDev talk, time to download", download_times.draw),
    "exit-and-retransmissions": ("NetDev talk, exit time and retransmissions", sender_means.draw),
}
for name, (source, draw) in satellite.items():
    display(
        page.figure(f"satellite-{name}", source, draw([geo]), geo)
        if geo
        else page.pending(f"satellite-{name}", source, "no GEO scenario has been run")
    )

# %%
for run in [*wifi, *([geo] if geo else [])]:
    page.data(
        f"time-to-download-{run.name}", "time to download, as numbers", download_times.times(run), download_times.TIMES
    )
