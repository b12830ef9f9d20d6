# SPDX-License-Identifier: GPL-2.0-or-later
"""A sender of a user's own: built alone, tested for a second, and compared with the lab's."""
