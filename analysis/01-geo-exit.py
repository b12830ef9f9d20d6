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
# # Which sender leaves slow start at the right moment on a GEO satellite link?
#
# From the stored tables of a run to the tables and figures of its page, step by step: each trial is judged by
# the at-capacity rules of the papers and by the bottleneck's own queue, the trials are aggregated per sender, and
# one trial of each sender is drawn. Nothing here computes anything of its own: `lab.judge` judges,
# `lab.report` aggregates, `lab.figures` draws.

# %% tags=["parameters"]
run_dir = "../results/geo/latest"  # a stored run
out_dir = None  # where to write summary.csv and the figures; nowhere when None

# %%
from pathlib import Path

import polars as pl
from IPython.display import Image, Markdown, display

from lab.figures.save import png, save
from lab.judge.provenance import provenance
from lab.judge.registry import inferred, rule_of
from lab.judge.stored import Stored
from lab.judge.summary import summarise
from lab.report import figures, markdown
from lab.report.answer import headline
from lab.report.table import tables
from lab.tables.stored_run import Run

stored = Stored.of(Run(Path(run_dir)))
run = stored.run
ccas, scenario = run.meta["ccas"], run.meta["scenario"]
heuristic = rule_of(scenario)

# %% [markdown]
# ## Judge every trial
#
# One row per trial and rule: when the capacity was reached, when slow start was left, when the first
# segment was lost, and thus the class of the exit. What did not happen is null.

# %%
judged = stored.judged.outcomes
judged

# %% [markdown]
# ## Aggregate per sender, next to the published values

# %%
summary = summarise(judged, [stanza["name"] for stanza in ccas])
shown, below = tables(summary, ccas, scenario.get("published", [])), provenance(run.meta["profile"])
Markdown(markdown.render(scenario["question"], headline(summary, ccas, heuristic), shown, below))

# %% [markdown]
# ## All trials at a glance

# %%
drawn = list(figures.over_all_trials(stored))
for named in drawn:
    display(Image(png(named.drawing.figure), alt=named.drawing.alt))

# %% [markdown]
# ## One trial of each sender
#
# The one with the median exit time.

# %%
for named in figures.per_sender(stored):
    display(Image(png(named.drawing.figure), alt=named.drawing.alt))
    display(Markdown(named.drawing.caption))
    drawn.append(named)

# %% [markdown]
# ## How far from the truth are the papers' rules?
#
# Seconds by which each rule puts the capacity after the moment when the queue truly filled, over the valid
# trials in which both found one.

# %%
times = judged.filter("valid").pivot("heuristic", index=["cca", "trial"], values="capacity_s")
rules = list(inferred())
late = times.with_columns(pl.col(rules) - pl.col("truth")).unpivot(rules, index="cca", variable_name="rule")
by_rule = late.drop_nulls().group_by("cca", "rule", maintain_order=True)
by_rule.agg(trials=pl.len(), mean_s=pl.col("value").mean(), sd_s=pl.col("value").std())

# %% [markdown]
# ## Keep the summary and the figures, if a folder is given

# %%
if out_dir:
    Path(out_dir).mkdir(parents=True, exist_ok=True)
    summary.write_csv(Path(out_dir) / "summary.csv", float_precision=6)
    for named in drawn:
        save(named.drawing.figure, Path(out_dir) / named.name, named.drawing.about)
