# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks that are not the lab's: measured (`lab traces record`), and shaped (`lab replay`)."""
