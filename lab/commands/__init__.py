# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user types: one file per command group; only these print and exit."""
