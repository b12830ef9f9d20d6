# SPDX-License-Identifier: GPL-2.0-or-later
"""Do core, modules, QUIC and BPF leave slow start on the same ACK of recorded streams?"""
