# SPDX-License-Identifier: GPL-2.0-or-later
"""The forms of a grade: text, Gradescope's results.json, and a page."""
