# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs on the kernel that loads the program: the standard library and lab.node alone."""
