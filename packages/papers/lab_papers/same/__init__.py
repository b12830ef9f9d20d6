# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab same`: a fixed set of trials, and whether their packets and tables are those of the committed reference."""
