# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own congestion control: read from outside the repository, built alone, described by its module."""
