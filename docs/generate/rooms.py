# SPDX-License-Identifier: GPL-2.0-or-later
"""The figure of the rooms, docs/rooms.svg, from the import contract of pyproject.toml.

`scripts/python docs/generate/rooms.py` writes it; the site's build refuses a figure that is older than the contract.
"""

import tomllib
from html import escape
from pathlib import Path

REPO = Path(__file__).parents[2]
FIGURE = REPO / "docs" / "rooms.svg"
ROOMS = {
    "commands": "what a user types",
    "report": "page, trial browser, tables for papers",
    "figures": "the drawings",
    "evaluation": "many runs: comparisons and their statistics",
    "runs": "experiment, plan, trial, certificate",
    "senders": "the ways in which a sender can exist",
    "backends": "where a kernel runs: virtual, host, vm",
    "judge": "at-capacity rules, classes, moments",
    "kernel": "C: senders, qdiscs, virtual time",
    "images": "what is built once and cached",
    "tables": "decoders of raw records, and the store",
    "links": "a profile, and what a trial samples from it",
    "traces": "recordings of real links",
    "node": "runs on the kernel under test",
    "schema": "the files that a user writes",
    "base": "errors, paths, cache, statistics",
}
GROUPS = {
    "commands": "use",
    "report": "show",
    "figures": "show",
    "evaluation": "judge",
    "runs": "run",
    "senders": "run",
    "backends": "run",
    "judge": "judge",
    "kernel": "run",
    "images": "run",
    "tables": "data",
    "links": "data",
    "traces": "data",
    "node": "run",
    "schema": "data",
    "base": "base",
}
COLOURS = {
    "use": "#5c6bc0",
    "show": "#00796b",
    "judge": "#8e24aa",
    "run": "#bf5600",
    "data": "#0277bd",
    "base": "#607d8b",
}
MEANINGS = {
    "use": "to use",
    "show": "to show",
    "judge": "to judge",
    "run": "to run",
    "data": "data and files",
    "base": "used by all",
}
ROW, LEFT, WIDTH, TOP = 34, 60, 620, 62


def layers() -> list[str]:
    """Return the rooms from the contract, the highest first."""
    contracts = tomllib.loads((REPO / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = (each for each in contracts if each["type"] == "layers")
    return [room for room in contract["layers"] if not room.startswith("_")]


def figure() -> str:
    """Draw the figure as SVG."""
    rooms = layers()
    height = TOP + ROW * len(rooms) + 20
    parts = [_opening(height), _legend()]
    for number, room in enumerate(rooms):
        parts.append(_room(room, TOP + ROW * number))
    bottom = TOP + ROW * len(rooms) - 8
    parts.append(f'<path class="way" d="M30 {TOP + 4}V{bottom}" marker-end="url(#head)"/>')
    parts.append(
        f'<text class="note" transform="translate(20 {(TOP + bottom) // 2}) rotate(-90)" text-anchor="middle">'
        "imports go down</text>"
    )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _opening(height: int) -> str:
    return f"""<!-- SPDX-License-Identifier: GPL-2.0-or-later; made by docs/generate/rooms.py -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {height}" role="img" aria-labelledby="title">
<title id="title">The rooms of lab/: each imports only rooms below it</title>
<style>
.paper {{ fill: #fff; }}
text {{ font: 14px system-ui, sans-serif; fill: #222; }}
.name {{ font-weight: 600; fill: #fff; }}
.note {{ font-size: 12px; fill: #555; }}
.way {{ stroke: #555; stroke-width: 2; fill: none; }}
</style>
<defs><marker id="head" markerWidth="10" markerHeight="10" refX="5" refY="5" orient="auto">
<path d="M0 0L10 5L0 10z" fill="#555"/></marker></defs>
<rect class="paper" width="100%" height="100%" rx="6"/>"""


def _legend() -> str:
    parts, x = [], LEFT
    for group, meaning in MEANINGS.items():
        parts.append(f'<rect x="{x}" y="20" width="14" height="14" rx="3" fill="{COLOURS[group]}"/>')
        parts.append(f'<text class="note" x="{x + 20}" y="32">{escape(meaning)}</text>')
        x += 38 + 7 * len(meaning)
    return "\n".join(parts)


def _room(room: str, top: int) -> str:
    colour = COLOURS[GROUPS[room]]
    return f"""<rect x="{LEFT}" y="{top}" width="150" height="{ROW - 6}" rx="4" fill="{colour}"/>
<text class="name" x="{LEFT + 12}" y="{top + 19}">{escape(room)}/</text>
<text x="{LEFT + 166}" y="{top + 19}">{escape(ROOMS[room])}</text>"""


if __name__ == "__main__":
    FIGURE.write_text(figure())
