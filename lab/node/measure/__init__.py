# SPDX-License-Identifier: GPL-2.0-or-later
"""What is recorded of a trial: captures, traces, samples, counters, and the machine itself."""
