# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials on several machines: workers of a scheduler, and the shards of a request joined."""
