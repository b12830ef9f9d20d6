# SPDX-License-Identifier: GPL-2.0-or-later
"""The at-capacity rules: one file per rule, each with a RULE (lab/judge/rule.py); lab/judge/registry.py finds them."""
