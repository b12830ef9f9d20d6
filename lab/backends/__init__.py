# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the kernel under test runs, and what builds its network: two choices that are kept apart."""
