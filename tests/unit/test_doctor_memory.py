# SPDX-License-Identifier: GPL-2.0-or-later
"""How much memory `lab doctor` finds: what programs can have, which is more than what is free."""

from lab.commands.doctor import available_bytes

# /proc/meminfo of a VM after 1.8 GB of files were read
FULL_FILE_CACHE = """\
MemTotal:        3050976 kB
MemFree:          211200 kB
MemAvailable:    2623040 kB
Buffers:           73012 kB
HugePages_Total:       0
"""


def test_memory_that_holds_files_counts_as_available() -> None:
    assert available_bytes(FULL_FILE_CACHE) == 2_623_040 * 1024
