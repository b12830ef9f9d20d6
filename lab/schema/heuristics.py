# SPDX-License-Identifier: GPL-2.0-or-later
"""The names of the at-capacity rules: one file each in lab/judge/rules/ and in the folder that LAB_RULES names."""

from pathlib import Path

from lab.base import paths
from lab.base.additions import addition_files

DEFAULT_RULE = "latency_offset"  # the papers' rule for long paths


def rule_files() -> dict[str, Path]:
    """Return the files of the at-capacity rules by the name of the rule."""
    return addition_files(paths.RULES, "LAB_RULES")
