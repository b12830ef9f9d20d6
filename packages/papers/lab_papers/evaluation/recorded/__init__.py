# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded downloads against emulated ones: both as their senders saw them, on one clock."""
