# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own congestion controls, from a built module to a sender that trials can run."""
