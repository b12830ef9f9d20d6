# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables over many runs: the papers' claims, scores of the rules, sensitivity, senders against each other."""
