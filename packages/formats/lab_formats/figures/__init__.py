# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of recordings."""
