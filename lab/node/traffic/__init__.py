# SPDX-License-Identifier: GPL-2.0-or-later
"""What crosses the link: downloads by iperf3 or QUIC, and workloads."""
