# SPDX-License-Identifier: GPL-2.0-or-later
"""On a dark page figures have a palette of their own, in which whatever is drawn can be seen."""

import re

import pytest

from lab.base.paths import LAB
from lab.report.dark import PALETTE, PAPER, SURFACES, css
from lab.schema.cca import load_ccas

LEAST_CONTRAST = 3.0  # of graphical objects (WCAG 2.2, 1.4.11)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", PALETTE.values())
def test_what_is_drawn_stands_out_from_the_dark_paper(dark: str) -> None:
    assert contrast(dark, PAPER) >= LEAST_CONTRAST


@pytest.mark.parametrize("dark", SURFACES.values())
def test_a_surface_is_darker_than_whatever_is_drawn_on_it(dark: str) -> None:
    assert luminance(dark) < min(map(luminance, PALETTE.values()))


def test_each_colour_has_its_dark_one_and_paper_stays_light() -> None:
    figures = (LAB / "figures").glob("*.py")
    drawn = {colour for file in figures for colour in re.findall(r'"(#[0-9a-f]{6})"', file.read_text())}
    senders = {stanza.colour.lower() for stanza in load_ccas().values() if stanza.colour}
    assert (drawn | senders) - PALETTE.keys() - SURFACES.keys() == set()
    assert css().startswith("@media screen and (prefers-color-scheme: dark) {")
    assert '.plate [style*="fill: #0072b2"]' in css()
