# SPDX-License-Identifier: GPL-2.0-or-later
"""One figure per file: a pure function from tables to a matplotlib Figure, with its place on the pages."""
