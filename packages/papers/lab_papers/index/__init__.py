# SPDX-License-Identifier: GPL-2.0-or-later
"""results/index.html: every scenario, every table and figure of the papers, and what the notebooks drew of them."""
