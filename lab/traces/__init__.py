# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of real links: where they come from, how they are read, shown, and made."""
