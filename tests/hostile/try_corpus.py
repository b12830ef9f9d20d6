# SPDX-License-Identifier: GPL-2.0-or-later
"""Try inputs of the corpus in this process, within bounds: `python -m tests.hostile.try_corpus` prints JSON lines."""

import json
import tempfile
from pathlib import Path

from tests.hostile.inputs import INPUTS, write
from tests.hostile.readers import READERS, bound, refusal

CPU_S = 300


def main() -> None:
    """Print the name of each input before it is tried, and its refusal after."""
    bound(CPU_S)
    for name, one in INPUTS.items():
        print(json.dumps([name]), flush=True)
        with tempfile.TemporaryDirectory() as folder:
            line = refusal(READERS[one["reads"]], write(one, Path(folder)))
        print(json.dumps([name, line]), flush=True)


if __name__ == "__main__":
    main()
