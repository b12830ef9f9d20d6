# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of docs/shapers.md, from docs/measurements/shapers.json: what packets got, and what that did to trials."""

import json

from bench.measured import Figure
from generate import measurements

PLACE = "<!-- measured: shapers -->"
OF_PACKETS = ("bytes in 100 ms", "all bytes", "one-way delay", "lost", "reordered")


def page(markdown: str) -> str:
    """Put the tables where the page has a place for them."""
    if PLACE not in markdown:
        return markdown
    stored = json.loads((measurements.FOLDER / "shapers.json").read_text())
    packets = [figure for figure in stored["figures"] if _is_of_packets(figure)]
    trials = [figure for figure in stored["figures"] if not _is_of_packets(figure)]
    about = f"{stored['trials']} trials of {stored['duration_s']} s of each sender (CUBIC and SEARCH) on each link"
    lines = ["Packets over each part of the link that changes:\n", *measurements.by_subject(packets)]
    lines += [f"\nThe same trials, {about}:\n", *measurements.by_subject(trials)]
    return markdown.replace(PLACE, "\n".join(lines))


def _is_of_packets(figure: Figure) -> bool:
    return figure["name"].split(": ", 1)[1].startswith(OF_PACKETS)
