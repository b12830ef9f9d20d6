# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs that mean harm: a corpus with the expected line of each, and fuzzing of everything that reads a file."""
