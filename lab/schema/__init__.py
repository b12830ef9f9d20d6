# SPDX-License-Identifier: GPL-2.0-or-later
"""The files a user writes: scenarios, profiles, topologies, senders; each checked as it is read."""
