# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages that are made when the site is built; docs/hooks.py hands them to MkDocs."""
