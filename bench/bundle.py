# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m bench.bundle BYTES SETUP_S RESULT_S`: store what scripts/test-bundle measured."""

import sys

from bench.measured import Figure, show_and_store


def main() -> None:
    """Write results/bench/bundle.json."""
    size_bytes, setup_s, result_s = map(int, sys.argv[1:])
    figures: list[Figure] = [
        {"name": "one file with recordings and wheels", "value": round(size_bytes / 1e6), "unit": "MB"},
        {"name": "make setup BUNDLE, without network", "value": setup_s, "unit": "s"},
        {"name": "from the file to the first result", "value": result_s, "unit": "s"},
    ]
    show_and_store("bundle", "make test-bundle", figures)


if __name__ == "__main__":
    main()
