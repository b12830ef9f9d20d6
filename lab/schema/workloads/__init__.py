# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's workloads: see lab/schema/workload.py."""
