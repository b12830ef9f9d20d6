# SPDX-License-Identifier: GPL-2.0-or-later
"""From a run's stored tables to the answer, as text, CSV, Markdown, LaTeX and one HTML page."""
