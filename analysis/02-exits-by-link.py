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
# # Who leaves slow start at the chokepoint, on which link?
#
# Tables 5.1, 5.2 and 5.3 of the thesis, I and II of the WiFi paper, and the poster's, each published row above ours:
# judged by the rule of the papers, and by the bottleneck's own queue.

# %% tags=["parameters"]
results_dir = "../results"  # runs of the scenarios
out_dir = None  # where to write what the page shows; nowhere when None

# %%
from pathlib import Path

from IPython.display import display
from lab_papers.evaluation.kept import evaluation
from lab_papers.fullest import stored
from lab_papers.index.artefacts import Artefacts
from lab_papers.index.source_tables import source_table

runs, faults = stored(Path(results_dir))
page = Artefacts.into(out_dir)
versions = evaluation(Path(results_dir), "versions")
faults

# %% [markdown]
# ## One table after the other
#
# A table shows the rows whose scenario has been run. A table without any such row is pending.
#
# The WiFi paper's throughputs are from the server's tcpdump, ours from the client's capture; its client was a Mac, ours
# is Linux. What that changes stands in the documentation: Results and claims, "WiFi: where the paper measured".

# %%
tables = {
    "thesis-table-5.1": (
        "thesis, table 5.1",
        "SEARCH over GEO, LEO and LTE: capacity, first loss, exit, and how often in time",
    ),
    "thesis-table-5.2": ("thesis, table 5.2", "SEARCH over WiFi: the same"),
    "thesis-table-5.3": ("thesis, table 5.3", "Where SEARCH, HyStart and no HyStart leave slow start on each link"),
    "wifi-table-1": ("WiFi paper, table I", "Throughput, exit bitrate and loss over WiFi of three signals"),
    "wifi-table-2": ("WiFi paper, table II", "Where senders leave slow start over WiFi of three signals"),
    "poster-table": (
        "poster, table",
        "SEARCH 1.0 and later over GEO and LEO: exits at the chokepoint, headroom until the first loss",
    ),
}
for name, (source, caption) in tables.items():
    table = source_table(name, source, f"{caption} ({source}).", runs, versions)
    display(page.table(source, table) if table else page.pending(name, source, "none of its scenarios has been run"))

# %% [markdown]
# ## What is left out
#
# A campus map and a radio are needed for these.

# %%
display(
    page.left_out("thesis-5.7", "thesis, figure 5.7", "signal strength over the campus map: an emulator has no radio")
)
display(
    page.left_out("thesis-5.8", "thesis, figure 5.8", "throughput against signal strength: an emulator has no radio")
)
display(page.left_out("thesis-2.2", "thesis, figure 2.2", "a drawing of orbits: nothing of it is measured"))
