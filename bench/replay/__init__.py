# SPDX-License-Identifier: GPL-2.0-or-later
"""How exactly links are replayed: every recording with a capacity or round trips, packets over it against its series.

`python -m bench.replay` measures, prints a line for each recording, and writes results/bench/replay-<kernel>.json.
"""
