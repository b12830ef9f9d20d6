# SPDX-License-Identifier: GPL-2.0-or-later
"""Two senders that begin on one bottleneck."""
