# SPDX-License-Identifier: GPL-2.0-or-later
"""Links x senders at a glance: one row per link, one cell per sender, and a choice of what each cell measures."""
