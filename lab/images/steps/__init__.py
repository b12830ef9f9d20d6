# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of strangers one after another, on the host and in a virtual kernel: standard library only."""
