# SPDX-License-Identifier: GPL-2.0-or-later
"""Helpers of the formats: clocks, tables, text, units, and tools' output line by line."""
