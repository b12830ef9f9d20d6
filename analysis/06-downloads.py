# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
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
strong = ["thesis-wifi-strong"]  # the first of these that has been run
weak = ["thesis-wifi-weak"]
satellite = ["download-geo", "thesis-geo", "geo", "sample"]
out_dir = None  # where to write what the page shows; nowhere when None

# %%
from pathlib import Path

from IPython.display import display

from lab.figures import download_times, median_cdf, sender_means
from lab.judge.stored import first_stored
from lab.report.index.artefacts import Artefacts

made = Artefacts.into(out_dir)
links = {"5.10": first_stored(Path(results_dir), strong), "5.11": first_stored(Path(results_dir), weak)}
wifi = [run for run in links.values() if run]
geo = first_stored(Path(results_dir), satellite)

# %% [markdown]
# ## How much the two places carry

# %%
display(made.figure("thesis-5.9", "thesis, figure 5.9", median_cdf.draw(wifi), *wifi))

# %% [markdown]
# ## Time to download, exit time, retransmissions

# %%
for figure, run in links.items():
    names = {f"thesis-{figure}a": download_times.draw, f"thesis-{figure}bc": sender_means.draw}
    for name, draw in names.items():
        seed = f"thesis, figure {name.removeprefix('thesis-')}"
        display(
            made.figure(name, seed, draw([run]), run)
            if run
            else made.pending(name, seed, "its scenario has not been run")
        )

# %% [markdown]
# ## The same over a satellite

# %%
seeds = {
    "download-times": ("poster and NetDev talk, time to download", download_times.draw),
    "exit-and-retransmissions": ("NetDev talk, exit time and retransmissions", sender_means.draw),
}
for name, (seed, draw) in seeds.items():
    display(
        made.figure(f"satellite-{name}", seed, draw([geo]), geo)
        if geo
        else made.pending(f"satellite-{name}", seed, "no GEO scenario has been run")
    )

# %%
for run in [*wifi, *([geo] if geo else [])]:
    made.data(f"time-to-download-{run.name}", "time to download, as numbers", download_times.times(run))
