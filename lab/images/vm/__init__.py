# SPDX-License-Identifier: GPL-2.0-or-later
"""The VM's box: a Debian disk made from packages alone, in Vagrant's libvirt format."""
