# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders over QUIC: two stacks, their programs, and the tables of their trials."""
