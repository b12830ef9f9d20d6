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
# # Watch slow start
#
# Two downloads without HyStart: slow start goes on until something is lost. Run all cells once (a minute), look, then
# fill in the last cell. The handout explains each question.

# %% tags=["parameters"]
seconds = {"geo": 14, "wired": 3}  # of each link's download
results_dir = "results"
links_dir = "course/links"
student = None  # your ID, if this folder has no student.yml
until_s = {"geo": None, "wired": None}  # end of the figures below: a smaller number zooms in

# %% [markdown]
# ## The downloads
#
# Your seed decides rate and distance of your links. The same command in a terminal gives the same packets.

# %%
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import yaml
from IPython.display import Image, display
from lab_course.seeds import public_seed

from lab.figures import cwnd_rtt
from lab.figures.cwnd_rtt import Limits
from lab.figures.moments import Moments
from lab.figures.save import png
from lab.figures.style import Sender
from lab.judge import rtt
from lab.judge.loss import first_loss_s
from lab.judge.registry import rules
from lab.judge.rule import Evidence
from lab.judge.rules import latency_offset
from lab.judge.slow_start import first_exit
from lab.tables.stored_trial import Trial

student = student or yaml.safe_load(Path("student.yml").read_text())["student"]
seed = public_seed("watch-slow-start", student)
trials = {}
for link, length_s in seconds.items():
    folder = Path(results_dir) / f"try-{link}" / "latest" / "trials" / "cubic_plain-001"
    words = f"lab run --profile {links_dir}/{link}.yml --cca cubic_plain --no-pcap"
    words += f" --trials 1 --seed {seed} --duration {length_s}"
    print(words)
    if not folder.exists():
        environment = {**os.environ, "LAB_RESULTS": str(Path(results_dir).resolve())}
        subprocess.run([sys.executable, "-m", *words.split()], env=environment, check=True, stdout=subprocess.DEVNULL)
    trials[link] = Trial(folder)

# %% [markdown]
# ## Window, round trip and queue
#
# No figure marks the capacity: that is your work. The window doubles with each round trip. While the path has room the
# queue is empty between two bursts; from capacity on it never empties.

# %%
look = Sender("cubic_plain", "CUBIC without HyStart", "#CC79A7")
evidence = {}
for link, trial in trials.items():
    evidence[link] = Evidence(trial, first_exit(trial.exits), first_loss_s(trial.packets, 1))
    moments = Moments(None, None, evidence[link].exit_s, evidence[link].loss_s)
    acks = trial.acks.filter(pl.col("flow") == 1)
    drawn = cwnd_rtt.figure(acks, trial.qdisc, Limits.of_path(trial.meta), moments, look, until_s=until_s[link])
    display(Image(png(drawn), alt=f"{link}: window, round trip and queue over time"))

# %% [markdown]
# The tables behind the figures. `lab data-dictionary` explains every column.

# %%
for link, trial in trials.items():
    display(trial.acks.filter(pl.col("flow") == 1).select("t_s", "cwnd_pkts", "srtt_ms"))
    display(trial.qdisc.select("t_s", "backlog_bytes"))
    print(link, "smallest RTT", rtt.min_rtt_ms(trial.packets, 1), "ms")

# %% [markdown]
# ## Both heuristics
#
# The latency offset (for satellites): how much longer than the luckiest segment each one waited.

# %%
for link, trial in trials.items():
    offsets = latency_offset.offsets(trial.packets, 1)
    display(offsets.filter(pl.col("offset_ms") > 2 * evidence[link].min_rtt_ms).head(3))
    print(link, "at capacity by the latency offset:", rules()["latency_offset"].apply(evidence[link]).capacity_s, "s")
    print(
        link,
        "at capacity by the median throughput:",
        rules()["median_throughput_after"].apply(evidence[link]).capacity_s,
        "s",
    )

# %% [markdown]
# ## The truth
#
# Only an emulator sees the queue: `lab/judge/rules/truth.py` states what counts as capacity.

# %%
for link in trials:
    print(link, "at capacity by the true queue:", rules()["truth"].apply(evidence[link]).capacity_s, "s")

# %% [markdown]
# ## Your answers
#
# Numbers and texts only. The grader reads this cell and runs nothing of this notebook.

# %% tags=["answers"]
answers = {
    # by eye, before you look at the heuristics: when does the queue begin to stand? (s)
    "geo_eye_s": None,
    "wired_eye_s": None,
    # smallest round trip (ms), window when the link reached its true capacity (packets), largest queue (MB)
    "geo_min_rtt_ms": None,
    "geo_cwnd_pkts": None,
    "geo_queue_mb": None,
    "wired_min_rtt_ms": None,
    "wired_cwnd_pkts": None,
    "wired_queue_mb": None,
    # capacity by the latency offset and by the median throughput after slow start (s)
    "geo_offset_s": None,
    "geo_median_s": None,
    "wired_offset_finds": None,  # "capacity" or "nothing"
    "wired_median_s": None,
    # capacity by the true queue (s), and the heuristic that came nearer on GEO: "offset" or "median"
    "geo_truth_s": None,
    "wired_truth_s": None,
    "geo_nearer": None,
    # links/third.yml: 100 Mb/s, a round trip of 100 ms. Do not run it: when will it be at capacity? (s)
    "third_capacity_s": None,
}
