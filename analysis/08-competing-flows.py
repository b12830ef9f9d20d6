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
# # How do two downloads share a satellite link?
#
# The slides' CUBIC against CUBIC, BBR, Hybla, PCC and CUBIC without HyStart: two servers, simultaneous downloads. PCC
# is Vivace, written by the lab from its paper; its scenario, `compete-vivace`, is no part of `lab reproduce`.

# %% tags=["parameters"]
results_dir = "../results"  # runs of the scenarios, and evaluation/
scenarios = {  # of each list, the first scenario that has been run
    "against CUBIC": ["compete-cubic"],
    "against BBR": ["compete-bbr"],
    "against Hybla": ["compete-hybla"],
    "against PCC Vivace": ["compete-vivace"],
    "against CUBIC without HyStart": ["compete-cubic-plain"],
}
out_dir = None  # where to write what the page shows; nowhere when None

# %%
from pathlib import Path

from IPython.display import display
from lab_papers.evaluation.kept import evaluation
from lab_papers.index.artefacts import Artefacts
from lab_papers.index.notebook_tables import competing_table

page = Artefacts.into(out_dir)
flows = evaluation(Path(results_dir), "flows")
table = None if flows is None else competing_table(flows, scenarios.values())
source = "slides, TCP over satellite: throughput, RTT, retransmissions, fairness"
display(
    page.table(source, table)
    if table and table.groups
    else page.pending("competing-flows", source, "no scenario with competing flows has been evaluated")
)
