# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH replayed over downloads without HyStart: versions, parameters, and checks by the kernel."""
