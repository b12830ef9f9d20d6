# SPDX-License-Identifier: GPL-2.0-or-later
"""The at-capacity rules against the true queue, with the published constants and with others."""
