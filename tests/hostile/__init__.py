# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs that mean harm: a corpus with the expected line of each, and fuzzing of everything that reads a file."""

from lab.base.entry_points import brought

brought("lab.commands")  # from here on the packages of this checkout can be imported
