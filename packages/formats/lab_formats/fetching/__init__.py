# SPDX-License-Identifier: GPL-2.0-or-later
"""The recordings of trace-profiles/datasets.yml: fetched, verified, listed."""
