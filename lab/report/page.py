# SPDX-License-Identifier: GPL-2.0-or-later
"""The report as one HTML page: styles and figures are inside, nothing is fetched."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from lab.report.table import Table


@dataclass(frozen=True)
class Picture:
    """A figure ready for the page: its SVG inline, with the text for those who cannot see it."""

    svg: Markup
    caption: str


@dataclass(frozen=True)
class SenderPart:
    """A sender's part of the page: its representative trial (null: no valid one) and that trial's figures."""

    label: str
    colour: str
    trial: int | None
    pictures: Sequence[Picture]


@dataclass(frozen=True)
class Page:
    """All that the page shows."""

    run: str
    scenario: str
    meta: Mapping[str, Any]
    headline: Sequence[str]
    overview: Picture
    tables: Sequence[Table]
    senders: Sequence[SenderPart]
    checks: Sequence[Mapping[str, Any]]
    invalid: Sequence[Mapping[str, Any]]
    loss_disagreements: Sequence[str]
    trials: int


def render(page: Page) -> str:
    """The page as HTML."""
    here = files("lab.report")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(here.joinpath("page.html.j2").read_text(encoding="utf-8"))
    style = Markup(here.joinpath("page.css").read_text(encoding="utf-8"))  # noqa: S704 - our own file
    facts = list(_facts({key: value for key, value in page.meta.items() if key not in ("ccas", "profile")}))
    return template.render(page=page, style=style, facts=facts, scenario=page.meta["scenario"])


def picture(name: str, svg: str, alt: str, caption: str) -> Picture:
    """Inline an SVG: its own names for its parts, and `alt` as the text that stands for it."""
    body = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    body = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", body)
    size = re.sub(r' (?:width|height)="[^"]*pt"', "", body[: body.index(">")])
    opened = f'{size} role="img" aria-labelledby="{name}-alt"><title id="{name}-alt">{escape(alt)}</title>'
    drawn = opened + body[body.index(">") + 1 :]
    return Picture(Markup(drawn), caption)  # noqa: S704 - matplotlib escapes the text it draws, we the title


def _facts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Everything that run.json records, one dotted name and value a line."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _facts(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and any(isinstance(inner, (Mapping, list)) for inner in value):
        for number, inner in enumerate(value):
            yield from _facts(inner, f"{name}[{number}]")
    else:
        yield name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)
