# SPDX-License-Identifier: GPL-2.0-or-later
"""The C library, for system calls that Python has no functions for."""

import ctypes

LIBC = ctypes.CDLL(None, use_errno=True)
