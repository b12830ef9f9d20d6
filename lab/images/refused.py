# SPDX-License-Identifier: GPL-2.0-or-later
"""Find the requested options that a kernel's configuration did not keep; as a program, fail if there is any.

python3 refused.py FRAGMENT CONFIG: a machine that builds its own kernel runs this file alone (vm/kernel/build).
"""

import re
import sys
from pathlib import Path

RULE = "must be an option that this kernel source has and its other options allow"


def refused(requested: dict[str, str], kept_config: str) -> list[tuple[str, str]]:
    """List the lines of configurations (by file) that did not hold; an option that does not exist is off.

    Where two files request the same option, the later one counts.
    """
    kept = set(kept_config.splitlines())
    on = {line.split("=")[0] for line in kept if line.startswith("CONFIG_")}
    wanted: dict[str, tuple[str, str]] = {}
    for file, text in requested.items():
        for line in text.splitlines():
            if found := re.match(r"(?:# )?(CONFIG_\w+)(?:=| is not set$)", line):
                wanted[found[1]] = (file, line)
    return [
        (file, line)
        for option, (file, line) in wanted.items()
        if (option in on if line.startswith("#") else line not in kept)
    ]


if __name__ == "__main__":
    fragment, config = map(Path, sys.argv[1:])
    for _, lost in refused({fragment.name: fragment.read_text()}, config.read_text()):
        sys.exit(f"error: {fragment.name}: {lost}: {RULE}")
