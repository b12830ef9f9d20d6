# SPDX-License-Identifier: GPL-2.0-or-later
"""The system's tools, threads, processes and modules."""
