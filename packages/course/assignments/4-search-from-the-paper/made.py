# SPDX-License-Identifier: GPL-2.0-or-later
"""The public vectors of the starting point."""

from lab_course.assignment import sibling

vectors = sibling(__file__, "vectors")


def files() -> dict[str, str]:
    """Return the header that holds them."""
    return {"vectors.h": vectors.header(vectors.vectors(vectors.PUBLIC_SEED))}
