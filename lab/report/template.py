# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of every page: one environment, one style, the shared macros, and inline figures."""

import json
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from lab.base.paths import LAB
from lab.base.plain_text import escaped_lines
from lab.report import dark

ROOMS = tuple(LAB / "report" / room for room in ("", "browser", "matrix"))
STYLES = ("page.css", "matrix/matrix.css", "index.css", "browser/browser.css")
SCRIPTS = {"script": "browser/browser.js", "matrix_script": "matrix/matrix.js", "page_script": "page.js"}


@dataclass(frozen=True)
class Picture:
    """A figure ready for the page: its SVG inline, with the text for those who cannot see it."""

    svg: Markup
    caption: str
    name: str = ""  # of its files


def render(template: str, folder: Path | None = None, **given: Any) -> str:
    """Return a page from a template of the lab or of a folder, with the lab's own style and script inline."""
    loader = FileSystemLoader(ROOMS if folder is None else (folder, *ROOMS))
    environment = Environment(
        loader=loader,
        autoescape=True,
        finalize=_plain,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["embedded"] = _embedded
    style = Markup("".join((*map(_own, STYLES), dark.css())))  # noqa: S704 - our own files
    scripts = {name: Markup(_own(file)) for name, file in SCRIPTS.items()}  # noqa: S704
    return environment.get_template(template).render(style=style, **scripts, **given)


def _plain(value: Any) -> Any:
    """Write control characters of others' text as escapes; what is HTML already is ours."""
    return escaped_lines(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def picture(name: str, svg: str, alt: str, caption: str) -> Picture:
    """Inline an SVG: its own names for its parts, and `alt` as the text that stands for it."""
    prefix = f"figure-{name}".replace(".", "-")  # other elements of the page have names of their own
    own = f"f{zlib.crc32(name.encode()):x}"  # of the figure's parts: short, for a figure has thousands
    body = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{own}-", _smaller(svg[svg.index("<svg") :]))
    size = re.sub(r' (?:width|height)="[^"]*pt"', "", body[: body.index(">")])
    opened = f'{size} role="img" aria-labelledby="{prefix}-alt"><title id="{prefix}-alt">{escape(alt)}</title>'
    drawn = opened + body[body.index(">") + 1 :]
    return Picture(Markup(drawn), caption, name)  # noqa: S704 - matplotlib escapes the text it draws, we the title


def _smaller(svg: str) -> str:
    """Leave out what no reader sees: metadata, comments, indentation, and coordinates finer than a tenth of a point."""
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    text = re.sub(r">\s+<", "><", text).replace("DejaVuSans-", "")
    return re.sub(r'\b(?:d|x|y|points)="[^"]*"|translate\([^)]*\)', _rounded, text)


def _rounded(matched: re.Match[str]) -> str:
    return re.sub(r"(\.\d)\d+", r"\1", re.sub(r"\s+", " ", matched[0]))


def own_style(file: Path) -> Markup:
    """Return a style of one page alone."""
    return Markup(file.read_text(encoding="utf-8"))  # noqa: S704 - our own file


def _own(name: str) -> str:
    return (LAB / "report" / name).read_text(encoding="utf-8")


def _embedded(value: Any) -> Markup:
    """JSON inside a script element: nothing in it can end the element."""
    text = json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(text)  # noqa: S704
