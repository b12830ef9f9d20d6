# SPDX-License-Identifier: GPL-2.0-or-later
"""What every room uses: errors, paths, cache, scratch folders, the sandbox, statistics and number formats."""
