# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH as BPF: one source, built for stock kernels by clang and for the virtual kernel as a module."""
