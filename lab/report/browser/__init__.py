# SPDX-License-Identifier: GPL-2.0-or-later
"""The trial browser: what one trial shows over time, small enough that a page carries all of its trials."""
