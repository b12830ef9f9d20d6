# SPDX-License-Identifier: GPL-2.0-or-later
"""The survivors that are known: changes that no test can notice, with the reason (bench/mutants/survivors.toml)."""

import json
import tomllib
from collections.abc import Iterable

from lab.base.paths import REPO

FILE = REPO / "bench" / "mutants" / "survivors.toml"
FIELDS = ("file", "function", "before", "after")
Key = tuple[str, str, str, str]


def known() -> dict[Key, str]:
    """Return the reason of each listed survivor."""
    listed = tomllib.loads(FILE.read_text()).get("survivor", [])
    return {(row["file"], row["function"], row["before"], row["after"]): row["reason"] for row in listed}


def toml(keys: Iterable[Key]) -> str:
    """Format survivors as entries of the list, which lack the reason."""
    return "\n".join(_entry(key) for key in keys)


def _entry(key: Key) -> str:
    rows = (f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in zip(FIELDS, key, strict=True))
    return "\n".join(["[[survivor]]", *rows, 'reason = ""', ""])
