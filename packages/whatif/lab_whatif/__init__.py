# SPDX-License-Identifier: GPL-2.0-or-later
"""From one capture of a download: the link as it was, and what another sender would have done on it."""
