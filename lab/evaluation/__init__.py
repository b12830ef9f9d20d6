# SPDX-License-Identifier: GPL-2.0-or-later
"""What many runs together say: claims of the sources, the rules on trial, sensitivity, senders against each other."""
