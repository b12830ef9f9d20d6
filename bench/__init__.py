# SPDX-License-Identifier: GPL-2.0-or-later
"""Benchmarks of the lab; each writes results/bench/<name>.json, from which docs/ makes the page of measurements."""
