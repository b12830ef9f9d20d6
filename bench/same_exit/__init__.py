# SPDX-License-Identifier: GPL-2.0-or-later
"""Core, modules, QUIC and BPF on the same recorded ACKs: who leaves slow start on which one."""
