# SPDX-License-Identifier: GPL-2.0-or-later
"""The hypotheses, what each predicts when a field of the link changes, and what a run then shows."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lab_course.ran import Ran
from lab_course.work import Download, Work

from lab.base.errors import UserError
from lab.links.profile import Profile, read_profile

Shift = Literal["earlier", "same", "later", "unclear"]
LINK, SENDER, DOWNLOAD = "geo", "cubic", Download(8)
BASE = Path(__file__).parent / "links" / f"{LINK}.yml"
BOUNDS = {  # of each field that may be changed
    "up.on_demand.guaranteed_pkts": (1, 50),
    "up.on_demand.frame_ms": (5, 100),
    "up.on_demand.request_delay_ms": (50, 1000),
    "up.on_demand.period_ms": (100, 2400),
    "up.on_demand.cap_bytes": (5_000, 200_000),
    "down.rate_mbps": (10, 200),
    "down.buffer_bytes": (4_000_000, 60_000_000),
}
# By hypothesis: the fields that test it, and +1 where a larger value lets HyStart leave later.
HYPOTHESES = {
    "ack_rate": {"up.on_demand.guaranteed_pkts": 1, "up.on_demand.frame_ms": -1},
    "bunches": {"up.on_demand.guaranteed_pkts": -1, "up.on_demand.frame_ms": -1},
    "request_delay": {"up.on_demand.request_delay_ms": -1},
    "report_period": {"up.on_demand.period_ms": -1},
    "carrier_cap": {"up.on_demand.cap_bytes": 1},
    "forward_queue": {"down.rate_mbps": 1, "down.buffer_bytes": 1},
}
LATER, SAME = 4.0, 2.0  # the window at the exit: two doublings more are an effect, less than one is none
NOT_A_FIELD = ("title", "file", "recorded", "published", "assumed")


@dataclass(frozen=True)
class Change:
    """The one field in which a link differs from the given one."""

    field: str
    before: float
    after: float

    def prediction(self, hypothesis: str) -> Shift | None:
        """Return what a hypothesis predicts of this change; none where the field does not test it."""
        sign = HYPOTHESES[hypothesis].get(self.field)
        if sign is None:
            return None
        return "later" if (self.after > self.before) == (sign > 0) else "earlier"

    def __str__(self) -> str:
        """Name the field with both values."""
        return f"{self.field} {self.before:g} -> {self.after:g}"


def change(work: Work, file: str) -> Change:
    """Return the change of a link that was handed in; UserError unless it is one, and within its bounds."""
    base, own = _flat(read_profile(BASE)), _flat(work.own_link(file))
    differing = sorted(name for name in base.keys() | own.keys() if base.get(name) != own.get(name))
    if len(differing) != 1:
        found = ", ".join(differing) or "none"
        raise UserError(f"{file}: changed fields={found}: must be one, or nobody knows which of them did it")
    (name,) = differing
    if name not in BOUNDS:
        raise UserError(f"{file}: {name}: must stay as given: only {', '.join(BOUNDS)} may be changed")
    least, most = BOUNDS[name]
    value = own.get(name)
    if not isinstance(value, int | float) or not least <= value <= most:
        raise UserError(f"{file}: {name}={value}: must be {least:g} to {most:g}")
    return Change(name, float(base[name]), float(value))


def _flat(profile: Profile) -> dict[str, Any]:
    """Return the fields of a profile by dotted name, without texts."""
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [("", profile.model_dump(exclude=set(NOT_A_FIELD), exclude_none=True))]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{name}.{key}" if name else key, each) for key, each in value.items()]
        else:
            found[name] = value
    return found


def run(work: Work, file: str | None, seed: int) -> Ran:
    """Run CUBIC with HyStart over the given link, or over one that was handed in."""
    return work.run(SENDER, LINK if file is None else work.own_link(file), seed, DOWNLOAD)


def window(found: Ran) -> int:
    """Return the window at the exit from slow start; the largest one where the flow never left it."""
    return found.exit.cwnd_pkts if found.exit else int(found.acks["cwnd_pkts"].max() or 0)  # type: ignore[arg-type]


def shift(base: Ran, changed: Ran) -> Shift:
    """Return how the exit moved, by the window at which it came."""
    ratio = window(changed) / window(base)
    if ratio >= LATER:
        return "later"
    if ratio <= 1 / LATER:
        return "earlier"
    return "same" if 1 / SAME <= ratio <= SAME else "unclear"


def moved(base: Ran, changed: Ran) -> str:
    """State in words how the exit moved."""
    words = f"The window at the exit went from {window(base)} to {window(changed)} packets"
    unclear = ": between one and two doublings. Change the field by more" if shift(base, changed) == "unclear" else ""
    return f"{words}{unclear}."
