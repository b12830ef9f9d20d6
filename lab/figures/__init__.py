# SPDX-License-Identifier: GPL-2.0-or-later
"""One figure per file: a pure function from tables to a matplotlib Figure, with its place on the pages."""

from matplotlib import artist

# It lists all properties in each class's documentation, which takes a tenth of the time that matplotlib loads.
artist.kwdoc = lambda _artist: ""  # type: ignore[assignment]
