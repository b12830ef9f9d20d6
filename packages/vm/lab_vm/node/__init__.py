# SPDX-License-Identifier: GPL-2.0-or-later
"""A trial on a running kernel, as root: what builds its nodes, and the machine as it was before."""
