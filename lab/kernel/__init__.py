# SPDX-License-Identifier: GPL-2.0-or-later
"""The virtual-time kernel, the sender modules, and how both are built."""
