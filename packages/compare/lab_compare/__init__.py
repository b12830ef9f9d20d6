# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders compared over kinds of link: paired trials, when to stop, and ranks with ties."""
