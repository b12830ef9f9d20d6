# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs on the kernel under test: the standard library and lab.node alone."""
