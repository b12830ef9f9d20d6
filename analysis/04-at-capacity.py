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
# # When is a link at capacity, and when does SEARCH notice it?
#
# The two rules of the papers, and SEARCH's own view: figures 5.4, 5.5 and 5.6 of the thesis and figure 4 of the WiFi
# paper. Each shows the trial with the median exit time; the true capacity, which only an emulator knows, is marked.

# %% tags=["parameters"]
results_dir = "../results"  # runs of the scenarios
scenarios = {  # of each list, the first scenario that has been run
    "WiFi paper": ["wifi-paper-high", "wifi-paper-medium", "wifi-paper-low"],
    "GEO": ["thesis-geo", "geo", "sample"],
    "LEO": ["thesis-leo"],
    "4G LTE": ["thesis-lte"],
    "WiFi": ["thesis-wifi-strong", "wifi-paper-high"],
}
links = ["GEO", "LEO", "4G LTE", "WiFi"]
out_dir = None  # where to write what the page shows; nowhere when None

# %%
from pathlib import Path

from IPython.display import display
from lab_papers.figures import slow_start, throughput_time
from lab_papers.fullest import first_stored
from lab_papers.index.artefacts import Artefacts

from lab.figures import delivered_bytes, latency_offset, throughput_cdf
from lab.figures.subject import subjects

page = Artefacts.into(out_dir)
runs = {name: first_stored(Path(results_dir), names) for name, names in scenarios.items()}
senders = {
    name: {subject.sender.name: subject for subject in subjects(run.run, run.judged.outcomes)}
    for name, run in runs.items()
    if run
}
shown = {name: found.get("search2", found.get("search")) for name, found in senders.items()}  # the published code first

# %% [markdown]
# ## Long paths: the latency offset

# %%
display(
    page.figure("thesis-5.4", "thesis, figure 5.4", latency_offset.draw(shown["GEO"]), runs["GEO"])
    if shown.get("GEO")
    else page.pending("thesis-5.4", "thesis, figure 5.4", "no GEO run has a valid trial of SEARCH")
)

# %% [markdown]
# ## Short paths: the median throughput

# %%
display(
    page.figure("thesis-5.5", "thesis, figure 5.5", throughput_cdf.draw(shown["WiFi"]), runs["WiFi"])
    if shown.get("WiFi")
    else page.pending("thesis-5.5", "thesis, figure 5.5", "no WiFi run has a valid trial of SEARCH")
)

# %%
parts = {"a": throughput_time.draw, "b": throughput_cdf.draw, "cd": slow_start.draw_beginning}
for part, draw in parts.items():
    name, source = f"wifi-4{part}", f"WiFi paper, figure 4 {', '.join(part)}"
    display(
        page.figure(name, source, draw(shown["WiFi paper"]), runs["WiFi paper"])
        if shown.get("WiFi paper")
        else page.pending(name, source, "no run of the WiFi paper's scenarios has a valid trial of SEARCH")
    )

# %% [markdown]
# ## Bytes delivered and the normalized difference, link by link

# %%
for link in links:
    name, source = f"thesis-5.6-{link.split()[-1].lower()}", f"thesis, figure 5.6, {link}"
    display(
        page.figure(name, source, delivered_bytes.draw(shown[link]), runs[link])
        if shown.get(link)
        else page.pending(name, source, "its scenario has no valid trial of SEARCH yet")
    )
