# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH as BPF: a program for stock kernels, and its source as a module of the virtual kernel."""
