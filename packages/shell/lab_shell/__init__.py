# SPDX-License-Identifier: GPL-2.0-or-later
"""A prompt in an emulated network."""
