# SPDX-License-Identifier: GPL-2.0-or-later
"""The searched space: bounds as a YAML file states them, and a point of it as a profile."""

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from lab.base.choice import one_of
from lab.base.errors import field_error
from lab.base.named_files import shown
from lab.base.processes import machine_mb
from lab.links.draw import draw_link
from lab.links.profile import Profile
from lab.runs import sizes
from lab.runs.plan import MSS_BYTES
from lab.schema.load import Real, Strict, parse, read_yaml
from lab.schema.scenario import MOST_DURATION_S

FOLDER = Path(__file__).parent / "bounds"
DIGITS = 4  # of a searched value: a file that people read
Value = float | str
Point = Mapping[str, Value]  # by parameter
ACK_LOSS_FROM_S = 0.001
FIRST_WINDOW_BYTES = 15_140  # ten full frames: a smaller buffer loses packets of every sender's first flight


class Range(Strict):
    """Where a parameter is searched, and the value that it usually has: a find is shrunk towards that."""

    least: Real
    most: Real
    usual: Real
    scale: Literal["linear", "log"] = "linear"

    @model_validator(mode="after")
    def _in_order(self) -> "Range":
        if not self.least < self.most:
            raise ValueError("a range with least below most")
        if not self.least <= self.usual <= self.most:
            raise ValueError("a range whose usual value lies within it")
        if self.scale == "log" and self.least <= 0:
            raise ValueError("a range above 0, for a logarithmic scale")
        return self


Searched = Range | Real
Jitters = Annotated[list[Literal["none", "random", "cycle", "frames"]], Field(min_length=1)]


class Bounds(Strict):
    """Bounds of links: each parameter is a range, or a number that all links have."""

    title: Annotated[str, Field(min_length=1)]
    duration_s: Annotated[int, Field(ge=1, le=MOST_DURATION_S)]
    rate_mbps: Searched
    delay_ms: Searched  # each way
    buffer_bdps: Searched
    buffer_bytes_at_least: Searched = FIRST_WINDOW_BYTES
    loss_pct: Searched = 0.0
    return_loss_pct: Searched = 0.0  # of the way back, once data flows: ACKs that acknowledge many segments
    jitter: Jitters = ["none"]
    jitter_ms: Searched = 1.0
    jitter_period_ms: Searched = 100.0
    step_factor: Searched = 1.0  # of the rate from step_at_s on
    step_at_s: Searched = 1.0  # of the trial; where there is a detour or return loss, of the first data
    detour_ms: Searched = 0.0  # more delay of the way there from detour_at_s on: no packet arrives for so long
    detour_at_s: Searched = 1.0

    @model_validator(mode="after")
    def _searches(self) -> "Bounds":
        if not self.ranges and len(self.jitter) < 2:
            raise ValueError("bounds with a range: all parameters are numbers")
        if len(set(self.jitter)) < len(self.jitter):
            raise ValueError("a list of jitter that names each model once")
        return self

    @property
    def ranges(self) -> dict[str, Range]:
        return {name: value for name in PARAMETERS if isinstance(value := getattr(self, name), Range)}

    @property
    def usual(self) -> dict[str, Value]:
        """Return the point that everything is shrunk towards; of jitter models the first one."""
        found: dict[str, Value] = {}
        for name in PARAMETERS:
            value = getattr(self, name)
            found[name] = value.usual if isinstance(value, Range) else value
        return found | {"jitter": self.jitter[0]}


PARAMETERS = tuple(name for name in Bounds.model_fields if name not in ("title", "duration_s", "jitter"))


def load_bounds(name: str) -> Bounds:
    """Read bounds by name, or by a path that ends in .yml; UserError where no machine of this memory holds them."""
    known = {file.stem: file for file in sorted(FOLDER.glob("*.yml"))}
    if Path(name).suffix != ".yml" and name not in known:
        raise field_error("command line", "bounds", name, f"{one_of(name, known)}, or a path that ends in .yml")
    file = known.get(name, Path(name))
    bounds = parse(Bounds, read_yaml(file), file)
    _require_links(bounds, file)
    return bounds


def _require_links(bounds: Bounds, file: Path) -> None:
    """Refuse bounds with an end that is no link, or that needs more memory than this machine has."""
    for end in ("least", "most"):
        point = {name: getattr(each, end) for name, each in bounds.ranges.items()}
        for jitter in bounds.jitter:
            profile = profile_of(bounds.usual | point | {"jitter": jitter}, file)
            link = draw_link(profile, bounds.duration_s, np.random.default_rng(1))
    needed_mb = sizes.memory_mb(link, bounds.duration_s, MSS_BYTES)
    if needed_mb > machine_mb():
        rule = f"at most {machine_mb()}, the memory of this machine: lower the most of rate, delay or buffer"
        raise field_error(shown(file), "memory_mb", needed_mb, rule)


def rounded(point: Point) -> dict[str, Value]:
    """Return a point with as many digits as a file has."""
    return {name: value if isinstance(value, str) else significant(value, DIGITS) for name, value in point.items()}


def significant(value: float, digits: int) -> float:
    """Return a number with so many significant digits."""
    return float(f"{value:.{digits}g}") if isfinite(value) else value


def profile_of(point: Point, file: Path) -> Profile:
    """Return a point as a profile; UserError names the file of its bounds."""
    profile = parse(Profile, content_of(point), file)
    profile._file = file
    return profile


def content_of(point: Point, title: str = "a link of lab break", source: str = "lab break") -> dict[str, Any]:
    """Return a point as a profile's file has it: what is constant, or absent, is not written."""
    down: dict[str, Any] = {"rate_mbps": _rate(point, source), "delay_ms": _delay(point, source)} | _buffer(point)
    up: dict[str, Any] = {"delay_ms": _return_delay(point, source)}
    if point["loss_pct"]:
        down["loss_pct"] = point["loss_pct"]
    if _number(point, "return_loss_pct"):  # not of the handshakes, which would take longer than the trial
        up["loss_pct"] = _step(0, ACK_LOSS_FROM_S, _number(point, "return_loss_pct"), source)
    if point["jitter"] == "frames":
        down["frames"], up["frames"] = ({"period_ms": point["jitter_ms"]} for _ in range(2))
    begin = {"series_begin": "data"} if point["detour_ms"] or point["return_loss_pct"] else {}
    return {"title": title, "down": down, "up": up, **begin, "recorded": [], "assumed": [source]}


def _number(point: Point, name: str) -> float:
    value = point[name]
    assert not isinstance(value, str)
    return float(value)


def _buffer(point: Point) -> dict[str, Any]:
    """Return the buffer in bandwidth-delay products, or the least one in bytes where these are fewer."""
    bdp_bytes = 2 * _number(point, "delay_ms") * _number(point, "rate_mbps") * 1e3 / 8
    least_bytes = round(_number(point, "buffer_bytes_at_least"))
    if _number(point, "buffer_bdps") * bdp_bytes < least_bytes:
        return {"buffer_bytes": least_bytes}
    return {"buffer_bdps": point["buffer_bdps"]}


def _rate(point: Point, source: str) -> Any:
    rate_mbps, factor = _number(point, "rate_mbps"), _number(point, "step_factor")
    return rate_mbps if factor == 1 else _step(rate_mbps, point["step_at_s"], rate_mbps * factor, source)


def _delay(point: Point, source: str) -> Any:
    """Return the delay of the way there: a number, or one with a step."""
    delay_ms, more_ms = _number(point, "delay_ms"), _number(point, "detour_ms")
    return _step(delay_ms, point["detour_at_s"], delay_ms + more_ms, source) if more_ms else delay_ms


def _step(before: float, at_s: Value, after: float, source: str) -> dict[str, Any]:
    steps = [{"from_s": 0, "value": before}, {"from_s": at_s, "value": significant(after, DIGITS)}]
    return {"model": "schedule", "source": source, "steps": steps}


def _return_delay(point: Point, source: str) -> Any:
    """Return the delay of the way back, never below the way there's."""
    delay_ms, size_ms, period_ms = (_number(point, name) for name in ("delay_ms", "jitter_ms", "jitter_period_ms"))
    mean_ms = significant(delay_ms + size_ms, DIGITS)
    if point["jitter"] == "random":
        jitter = {"model": "jitter", "mean": mean_ms, "sd": size_ms, "correlation_ms": period_ms, "least": delay_ms}
        return jitter | {"source": source}
    if point["jitter"] == "cycle":
        cycle = {"model": "cycle", "mean": mean_ms, "amplitude": significant(mean_ms - delay_ms, DIGITS)}
        return cycle | {"period_s": period_ms / 1e3, "source": source}
    return delay_ms
