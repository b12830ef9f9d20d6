# SPDX-License-Identifier: GPL-2.0-or-later
"""The fixtures of the core, for the tests of packages."""

from tests.conftest import bench, cores, kernel, library, refusal, search_library, small_trial, world

__all__ = ["bench", "cores", "kernel", "library", "refusal", "search_library", "small_trial", "world"]
