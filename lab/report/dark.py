# SPDX-License-Identifier: GPL-2.0-or-later
"""The colours of figures on a dark page: each of the light scheme has its own there, of the same hue.

A figure is drawn once, in the light colours that its file keeps for papers. On the page style rules replace them, where
the reader prefers a dark scheme; a colour without a counterpart, as of a user's own figure, stays.
"""

from collections.abc import Iterator

PAPER = "#16181c"  # as --paper of page.css
PALETTE = {
    # ink, from strong to faint
    "#000000": "#f2f2f2",
    "#222222": "#e0e0e0",
    "#666666": "#b4b4b4",
    "#808080": "#9a9a9a",
    "#888888": "#9a9a9a",
    # senders and lines: Okabe and Ito's hues, lighter
    "#0072b2": "#4fa8e0",
    "#56b4e9": "#8ad0f7",
    "#007f5f": "#2bbf94",
    "#009e73": "#2fcf9e",
    "#d55e00": "#ff8a3c",
    "#cc79a7": "#e3a0c6",
    "#e69f00": "#f5b942",
    "#c98a66": "#c07a4c",
}
SURFACES = {  # what lies behind marks: dark
    "#ffffff": PAPER,
    "#dddddd": "#3a3e45",
    "#cfd6e0": "#4a515c",
    "#e4e9f2": "#252b38",
    "#eef1f8": "#20242e",
    "#9fd8bb": "#1f5a45",
    "#fbe3d4": "#3f2a1f",
}

_USED = "path"  # a tick is a copy of one path, which a browser does not look up below .plate


def css() -> str:
    """Return the rules of the dark scheme: for fills and strokes, as matplotlib writes them."""
    return f"@media screen and (prefers-color-scheme: dark) {{\n{''.join(_rules())}}}\n"


def _rules() -> Iterator[str]:
    yield f".plate {{ background: {PAPER}; }}\n"
    yield f".plate svg {{ fill: {PALETTE['#000000']}; }}\n"  # black text has no colour of its own
    for light, dark in (PALETTE | SURFACES).items():
        for part in ("fill", "stroke"):
            marked = f'.plate [style*="{part}: {light}"], .plate [{part}="{light}"], {_USED}[style*="{part}: {light}"]'
            yield f"{marked} {{ {part}: {dark} !important; }}\n"
