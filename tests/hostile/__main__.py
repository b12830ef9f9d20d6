# SPDX-License-Identifier: GPL-2.0-or-later
"""`make test-hostile`: fuzz every reader, each in a process of its own with bounds of memory and time; then CONDITIONS.

`python -m tests.hostile [EXAMPLES [SEED]]`: so many inputs in all; the seed is printed.
"""

import secrets
import subprocess
import sys

from lab.base.paths import REPO
from tests.hostile.readers import READERS

EXAMPLES = 12_000
CONDITIONS = {
    "flipped bits and older formats": "tests/unit/test_digests.py",
    "bombs and links in bundles": "packages/bundle/tests/whole/test_bundle_refused.py",
    "bombs and links in submissions": "packages/course/tests/unit/test_course_submission.py",
    "runs of strangers": "tests/whole/test_strangers_run.py",
    "the corpus and texts of strangers": "tests/whole/test_hostile.py",
    "what others put into common folders": "tests/whole/test_scratch.py",
    "two commands and one cache": "tests/whole/test_clean.py",
    "another user, a shared cache, two runs at once, clocks that jump": "tests/kernel/test_conditions.py",
}


def main() -> int:
    """Fuzz every reader and try the conditions; returns the exit status."""
    given = sys.argv[1:] + [""] * 2
    examples, seed = int(given[0] or EXAMPLES), int(given[1] or secrets.randbelow(2**32))
    print(f"seed {seed}: `make test-hostile EXAMPLES={examples} SEED={seed}` tries the same inputs", flush=True)
    share = str(max(examples // len(READERS), 1))
    failed = [name for name in READERS if _run("tests.hostile.fuzz", name, share, str(seed))]
    failed += [name for name, file in CONDITIONS.items() if _run("pytest", "-q", "-n0", str(REPO / file))]
    print(f"faults of the lab: {', '.join(failed)}" if failed else "no fault")
    return bool(failed)


def _run(*words: str) -> int:
    return subprocess.run([sys.executable, "-m", *words], cwd=REPO, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
