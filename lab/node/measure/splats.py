# SPDX-License-Identifier: GPL-2.0-or-later
"""Finding in a kernel's log what its checks complain of."""

import re

STAMP = re.compile(r"^\[ *[0-9.]+\](\[ *[TC]\d+\])? ")
FIRST_LINE = re.compile(
    r"""
      \bBUG: | \bBUG\ \S+.*:\ | ^WARNING:\ | \bKASAN: | \bUBSAN: | ^Oops | Kernel\ panic | ^kernel\ BUG\ at
    | ^INFO:\ (possible|suspicious|task|rcu|trying\ to\ register|inconsistent)
    | kmemleak:.*suspected\ memory\ leak | ^unreferenced\ object\ 0x
    | ^refcount_t: | ^list_(add|del)\ corruption | ^ODEBUG: | ^ref_tracker: | unregister_netdevice:\ waiting
    | ^Attempt\ to\ release\  | general\ protection\ fault | scheduling\ while\ atomic | ^Modules\ linked\ in:
    | DEBUG_LOCKS_WARN_ON | Object\ already\ free | ^divide\ error
    """,
    re.VERBOSE,
)
SHOWN = 25  # lines of each
LONGEST = 1024  # of a line, which a kernel ends itself (LOG_LINE_MAX): a module may print without an end
# A function of a module in a call trace, or a part of one (.cold). Bounded, so that no text takes the search long.
PLACE = re.compile(r"\b(\w{1,512}(?:\.\w{1,64}){0,3})\+0x([0-9a-f]{1,16})/0x[0-9a-f]{1,16} \[(\w{1,64})\]")


def splats(log: str) -> list[str]:
    """Return every complaint with the lines that follow it; nothing of a log that has none."""
    lines = [STAMP.sub("", line[:LONGEST].rstrip()) for line in log.splitlines()]
    found: list[str] = []
    until = 0
    for number, line in enumerate(lines):
        if number >= until and FIRST_LINE.search(line):
            until = number + SHOWN
            found.append("\n".join(lines[number:until]))
    return found
