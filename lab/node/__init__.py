# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs beside the kernel under test: standard library only, whatever kernel and engine that is."""
