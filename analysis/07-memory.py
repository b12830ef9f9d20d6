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
# # How much memory does each sender keep of a flow?
#
# The NetDev talk's static memory footprint. Every socket holds 104 bytes for its congestion control; what a module
# allocates beyond them is its own. The SEARCH modules tell how many bytes a flow has with their parameters; a
# kernel that was built is asked, and without one the table shows what `lab/cca.yml` says.

# %% tags=["parameters"]
senders = ["cubic", "search1", "search2", "search2_printed", "search31", "search4", "search", "bbr"]
out_dir = None  # where to write what the page shows; nowhere when None

# %%
from IPython.display import display

from lab.report.index.artefacts import Artefacts
from lab.report.index.memory import memory_table

made = Artefacts.into(out_dir)
display(made.table("NetDev talk, static memory footprint", memory_table(senders)))
