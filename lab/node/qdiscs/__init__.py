# SPDX-License-Identifier: GPL-2.0-or-later
"""Links: qdiscs, read back, and the series that they follow."""
