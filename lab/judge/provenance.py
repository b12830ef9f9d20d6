# SPDX-License-Identifier: GPL-2.0-or-later
"""What of a link was recorded, what is published and what assumed: once per page, and in the files of figures."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from lab.links.models import Levels

KINDS = ("recorded", "published", "assumed")


def provenance(profile: Mapping[str, Any]) -> tuple[str, ...]:
    """Build a sentence of each of a profile's three lists, and of its levels; an empty list gives "nothing"."""
    of_kinds = (f"{kind.capitalize()} of the link: {'; '.join(profile.get(kind, [])) or 'nothing'}." for kind in KINDS)
    return (*of_kinds, *levels(profile))


def mark(profile: Mapping[str, Any]) -> str:
    """Name which kinds of knowledge a link is made of: short enough to stand under each figure."""
    return f"Link: {', '.join(kind for kind in KINDS if profile.get(kind)) or 'without a source'}"


def levels(profile: Mapping[str, Any]) -> Iterator[str]:
    """Name mean and spreads of each quantity that changes in levels, with the mean that is left after clipping."""
    for way in ("down", "up"):
        for field, value in (profile.get(way) or {}).items():
            if isinstance(value, Mapping) and value.get("model") == "levels":
                try:
                    yield f"Levels of {way}.{field}: {Levels.model_validate(dict(value)).summary}."
                except ValidationError:
                    yield f"Levels of {way}.{field}: stored by another version of the lab."
