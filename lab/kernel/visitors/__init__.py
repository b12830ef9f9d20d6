# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders of others: fetched by commit and checksum, and edited so that the default kernel builds them."""
