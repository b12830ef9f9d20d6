# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH's versions and options on links of every kind: the choice of `search` rests on these figures.

An exit is judged by what only an emulator knows: the bottleneck's queue (lab/judge/rules/truth.py), and the losses at
the client. `python -m bench.versions` runs what results/bench/versions/ lacks, prints tables and stores them:

* replayed: one download without HyStart per link and trial; the core replays every form over its ACKs. Exits only.
* modules: whole trials, each form on the same links: throughput, losses and the queue too.
"""
