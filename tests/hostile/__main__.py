# SPDX-License-Identifier: GPL-2.0-or-later
"""`make test-hostile`: fuzz every reader, each in a process of its own with bounds of memory and time.

`python -m tests.hostile [EXAMPLES [SEED]]`: so many inputs in all; the seed is printed.
"""

import secrets
import subprocess
import sys

from tests.hostile.readers import READERS

EXAMPLES = 12_000


def main() -> int:
    """Fuzz every reader; returns the exit status."""
    given = sys.argv[1:] + [""] * 2
    examples, seed = int(given[0] or EXAMPLES), int(given[1] or secrets.randbelow(2**32))
    print(f"seed {seed}: `make test-hostile EXAMPLES={examples} SEED={seed}` tries the same inputs", flush=True)
    share = str(max(examples // len(READERS), 1))
    failed = [name for name in READERS if _fuzz(name, share, str(seed))]
    print(f"faults of the lab: {', '.join(failed)}" if failed else "no fault")
    return bool(failed)


def _fuzz(name: str, examples: str, seed: str) -> int:
    return subprocess.run([sys.executable, "-m", "tests.hostile.fuzz", name, examples, seed], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
