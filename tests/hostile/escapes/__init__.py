# SPDX-License-Identifier: GPL-2.0-or-later
"""Attacks on the host by code that the kernel under test runs; each reaches for a canary of the test's own."""
