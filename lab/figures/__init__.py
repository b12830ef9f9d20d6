# SPDX-License-Identifier: GPL-2.0-or-later
"""One figure a file: a pure function from tables to a matplotlib Figure, and a script around it."""
