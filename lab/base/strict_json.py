# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON of which each member has one value: a name that stands twice in an object is an error."""

import json
from collections import Counter
from typing import Any


def loads(text: str | bytes) -> Any:
    """Parse JSON; json.JSONDecodeError where it is broken, too deep, or a name stands twice in one object."""
    try:
        return json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise json.JSONDecodeError("too deep", "", 0) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise json.JSONDecodeError(f"{twice[:40]!r} stands twice in one object", "", 0)
    return found
