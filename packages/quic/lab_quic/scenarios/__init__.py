# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios that compare senders over QUIC with those over TCP."""

from pathlib import Path

FOLDER = Path(__file__).parent
