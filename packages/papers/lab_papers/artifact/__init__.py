# SPDX-License-Identifier: GPL-2.0-or-later
"""The artifact as reviewers take it: a list of claims, an appendix of two pages, an archive for a deposit."""
