# SPDX-License-Identifier: GPL-2.0-or-later
"""What of a link was recorded, what is published and what assumed: below every table and figure."""

from collections.abc import Mapping, Sequence
from typing import Any


def provenance(profile: Mapping[str, Sequence[Any]]) -> tuple[str, ...]:
    """Word a profile's three lists, a sentence each; one that is empty says so."""
    return tuple(
        f"{word} of the link: {'; '.join(map(str, profile.get(word.lower(), []))) or 'nothing'}."
        for word in ("Recorded", "Published", "Assumed")
    )
