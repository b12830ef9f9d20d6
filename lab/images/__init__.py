# SPDX-License-Identifier: GPL-2.0-or-later
"""Root folders of pinned Debian packages: `world` is the root of a trial's nodes, `builder` compiles its kernel."""
