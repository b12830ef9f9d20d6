# SPDX-License-Identifier: GPL-2.0-or-later
"""Stored runs: folders that explain themselves."""
