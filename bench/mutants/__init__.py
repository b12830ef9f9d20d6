# SPDX-License-Identifier: GPL-2.0-or-later
"""Small changes made to the program on purpose, and whether the tests notice them (`make mutants`)."""
