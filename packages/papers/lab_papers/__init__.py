# SPDX-License-Identifier: GPL-2.0-or-later
"""The papers repeated: campaign, claims, verdicts, the page of all results, the artifact."""
