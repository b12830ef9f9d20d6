# SPDX-License-Identifier: GPL-2.0-or-later
"""A stack that a user brings: a pair of programs behind a contract, one YAML file."""
