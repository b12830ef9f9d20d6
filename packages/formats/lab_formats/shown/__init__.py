# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording shown in the terminal."""
