# SPDX-License-Identifier: GPL-2.0-or-later
"""From a scenario to stored trials."""
