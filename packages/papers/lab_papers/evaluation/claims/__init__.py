# SPDX-License-Identifier: GPL-2.0-or-later
"""The claims of the papers: a published value, ours, and whether a run explains the difference."""
