# SPDX-License-Identifier: GPL-2.0-or-later
"""The open questions about SEARCH (docs/search-answers.md): one YAML file each in this folder, with its experiment.

`python -m bench.questions [NAME...]` runs what is not stored, and stores a row per place and form in
results/bench/search-answers.json, from which the page's sentences are made.
"""
