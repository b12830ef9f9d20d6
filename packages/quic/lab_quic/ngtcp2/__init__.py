# SPDX-License-Identifier: GPL-2.0-or-later
"""QUIC's two ends of a download: C on Debian's ngtcp2 and GnuTLS."""
