# SPDX-License-Identifier: GPL-2.0-or-later
"""The bounds of a link that was handed in: such as real paths have, and nothing that breaks every sender."""

from collections.abc import Iterator
from typing import Any

from lab.base.errors import UserError
from lab.links.models import Cycle, Schedule
from lab.links.profile import Profile

FILE = "break.yml"
RATE_MBPS, DELAY_MS, BUFFER_BDPS, FRAMES_MS = (5, 100), (5, 150), (2, 8), (0.001, 100)
MOST_STEPS = 4
ALLOWED = {
    "down": {"rate_mbps", "delay_ms", "buffer_bdps", "frames"},
    "up": {"delay_ms", "frames"},
}


def require(link: Profile) -> None:
    """Refuse a link outside the bounds; UserError names the first field and its bounds."""
    for where, value, (least, most) in _numbers(link):
        if not isinstance(value, int | float) or not least <= value <= most:
            raise UserError(f"{FILE}: {where}={value}: must be {least:g} to {most:g}")


def _numbers(link: Profile) -> Iterator[tuple[str, Any, tuple[float, float]]]:
    """Yield every number that has a bound; UserError for a field that must not be there."""
    _require_fields(link)
    yield "down.rate_mbps", link.down.rate_mbps, RATE_MBPS
    yield "down.buffer_bdps", link.down.buffer_bdps, BUFFER_BDPS
    for name in ALLOWED:
        way = getattr(link, name)
        if isinstance(way.delay_ms, Schedule) and len(way.delay_ms.steps) > MOST_STEPS:
            steps = len(way.delay_ms.steps)
            raise UserError(f"{FILE}: {name}.delay_ms.steps={steps}: must be at most {MOST_STEPS}")
        yield from ((f"{name}.delay_ms", value, DELAY_MS) for value in delays(way.delay_ms))
        if way.frames:
            yield f"{name}.frames.period_ms", way.frames.period_ms, FRAMES_MS


def _require_fields(link: Profile) -> None:
    for name, allowed in ALLOWED.items():
        given = getattr(link, name).model_dump(exclude_defaults=True)
        if other := sorted(given.keys() - allowed):
            raise UserError(
                f"{FILE}: {name}.{other[0]}: must be left out: {name} may have {', '.join(sorted(allowed))}"
            )
    if link.noise != type(link.noise)():
        raise UserError(f"{FILE}: noise: must be left out")


def delays(delay: Any) -> Iterator[Any]:
    """Yield each value that a delay takes; of another model itself."""
    if isinstance(delay, Schedule):
        yield from (step.value for step in delay.steps)
    elif isinstance(delay, Cycle):
        yield from (delay.mean - delay.amplitude, delay.mean + delay.amplitude)
    else:
        yield delay
