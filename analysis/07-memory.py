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
# # How much memory does each sender need per flow?
#
# The NetDev talk's static memory footprint. Every socket holds 104 bytes for its congestion control; what a module
# allocates beyond them is its own. The SEARCH modules report how many bytes a flow needs with their parameters,
# where a kernel has been built. Without one the table shows only what `lab/cca.yml` states.

# %% tags=["parameters"]
senders = ["cubic", "search1", "search2", "search2_printed", "search31", "search4", "search", "bbr"]
out_dir = None  # where to write what the page shows; nowhere when None

# %%
from IPython.display import display
from lab_papers.index.artefacts import Artefacts
from lab_papers.index.notebook_tables import memory_table

page = Artefacts.into(out_dir)
display(page.table("NetDev talk, static memory footprint", memory_table(senders)))
