# SPDX-License-Identifier: GPL-2.0-or-later
"""Conformance: cases that a standard's text gives, and whether a sender passes them."""
