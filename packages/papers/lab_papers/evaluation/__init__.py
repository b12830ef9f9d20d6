# SPDX-License-Identifier: GPL-2.0-or-later
"""Many runs: claims, sensitivity, rules, recorded downloads."""
