# SPDX-License-Identifier: GPL-2.0-or-later
"""What netem and tbf alone can do of a profile (`--shaper netem`), and their specs.

tbf decides when a packet leaves, so a change of rate acts on packets that already wait. netem with a rate keeps the
order of packets when the delay falls.
"""

from collections.abc import Iterable, Iterator

from lab.base.errors import COMMAND_LINE, field_error
from lab.base.named_files import shown
from lab.links.profile import WAYS, Profile, Way
from lab.node.plan import Spec
from lab.node.qdiscs.qdisc_kind import FRAME_BYTES

REPLAY, NETEM = SHAPERS = ("replay", "netem")  # the lab's own qdiscs, or those of every kernel
ORDER_BPS = 10e9  # netem keeps packets in order only with a rate; this one delays a frame by 1.2 us
FULL_FRAME_BYTES = 1600  # TBF's burst, or the largest frame: more would let an idle link exceed its rate


def require_shaper(shaper: str, profile: Profile, ways: Iterable[str] = WAYS) -> None:
    """Raise UserError where a shaper is unknown, or cannot do what a profile has; the line names the field."""
    if shaper not in SHAPERS:
        raise field_error(COMMAND_LINE, "shaper", shaper, f"one of {', '.join(SHAPERS)}")
    if shaper == REPLAY:
        return
    for name in ways:
        for field, value, rule in _beyond(getattr(profile, name)):
            raise field_error(shown(profile.file), f"{name}.{field}", value, rule)


def _beyond(way: Way) -> Iterator[tuple[str, object, str]]:
    """Yield field, value and rule of what of a direction neither netem nor tbf does."""
    absent = "absent with --shaper netem"
    if way.opportunities:
        yield "opportunities", way.opportunities.name, f"{absent}: tbf has a rate and no opportunities: give rate_mbps"
    if way.on_demand:
        yield "on_demand.report", way.on_demand.report, f"{absent}: neither netem nor tbf grants capacity on request"
    if way.shaped and way.queue.kind != "bfifo":
        yield "queue.kind", way.queue.kind, "bfifo with --shaper netem: tbf has no other queue of its own"
    if isinstance(way.buffer_bytes, int) and way.buffer_bytes < FULL_FRAME_BYTES:
        rule = f"at least {FULL_FRAME_BYTES} with --shaper netem: tbf drops frames that are longer than its buffer"
        yield "buffer_bytes", way.buffer_bytes, rule
    if way.frames:
        yield "frames.period_ms", way.frames.period_ms, f"{absent}: netem's slots keep to no clock"


def constant_rate(rate_bps: float, buffer_bytes: int, frame_bytes: int = FRAME_BYTES) -> Spec:
    """Return tbf with its buffer; it drops what is longer than its burst."""
    burst_bytes = max(FULL_FRAME_BYTES, frame_bytes)
    return {"kind": "tbf", "rate_bps": rate_bps, "burst_bytes": burst_bytes, "limit_bytes": buffer_bytes}


def constant_delay(same: Spec) -> Spec:
    """Return netem of the values that every delay line has, which keeps the order of packets."""
    return same | {"kind": "netem", "rate_bps": ORDER_BPS}
