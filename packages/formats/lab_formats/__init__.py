# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings that other programs wrote: how they are fetched, their formats, and how a recording looks."""
