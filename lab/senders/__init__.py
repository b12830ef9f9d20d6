# SPDX-License-Identifier: GPL-2.0-or-later
"""The ways in which a sender can exist, behind one protocol: from its name to its tables."""
