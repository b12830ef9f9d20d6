# SPDX-License-Identifier: GPL-2.0-or-later
"""The TCP header's flag bits (RFC 9293, section 3.1)."""

FIN = 0x01
SYN = 0x02
RST = 0x04
ACK = 0x10
ECE = 0x40
