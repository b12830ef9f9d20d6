# SPDX-License-Identifier: GPL-2.0-or-later
"""The course: assignments, and a grader whose grades are exact because the same seed gives the same packets."""
