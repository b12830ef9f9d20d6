# SPDX-License-Identifier: GPL-2.0-or-later
"""QUIC's two ends of a download: Rust on quinn's protocol machine, with the cores of SEARCH and HyStart++ in C."""
