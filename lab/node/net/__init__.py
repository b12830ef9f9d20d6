# SPDX-License-Identifier: GPL-2.0-or-later
"""Namespaces, interfaces, addresses and sockets of nodes."""
