# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs as root, or on a machine without the lab's libraries: the standard library and lab.node alone."""
