# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of real links: read from any form they are published in, stored in one, looked at."""
