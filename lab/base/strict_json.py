# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON of which each member has one value: a name that stands twice in an object is an error."""

import json
import re
from collections import Counter
from typing import Any

SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")  # half a character, or an escape that may be one


def loads(text: str | bytes) -> Any:
    """Parse JSON; ValueError where it is broken, too deep, has half a character, or a name twice in one object."""
    text = text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise json.JSONDecodeError("too deep", "", 0) from None
    if SURROGATE.search(text):
        json.dumps(found, ensure_ascii=False).encode()  # what can be read could not be written
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise json.JSONDecodeError(f"{twice[:40]!r} stands twice in one object", "", 0)
    return found
