# SPDX-License-Identifier: GPL-2.0-or-later
"""Pure functions over a trial's tables: link full, first loss, and whether the exit came between."""
