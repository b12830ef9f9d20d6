# SPDX-License-Identifier: GPL-2.0-or-later
"""Notebooks, one a question, and the figures they and the report share."""
