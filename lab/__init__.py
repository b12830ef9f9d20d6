# SPDX-License-Identifier: GPL-2.0-or-later
"""Emulate links and judge whether a TCP sender leaves slow start at the right moment."""

__version__ = "0.2.0"
