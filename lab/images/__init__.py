# SPDX-License-Identifier: GPL-2.0-or-later
"""Root folders of pinned Debian packages: `world` is what a trial sees, `builder` is what compiles its kernel."""
