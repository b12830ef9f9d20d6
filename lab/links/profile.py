# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles: how a link behaves, in both directions, and what differs from trial to trial."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, PrivateAttr, Tag, model_validator

from lab.base.choice import choose
from lab.base.errors import field_error
from lab.base.named_files import profile_files, shown
from lab.links.model import Positive
from lab.links.models import Choice
from lab.links.queue import Milliseconds, Queue, queue
from lab.links.recorded import OF_VALUES, Series
from lab.links.values import BytesOnce, Delay, DelayOnce, Once, PacketsOnce, Percent, Rate, kind
from lab.node.qdiscs.qdisc_kind import FRAME_BYTES
from lab.schema.load import Real, Strict, parse, read_yaml

MOST_FRAMES = 65_536  # that on_demand holds requests for
MOST_BUFFER_BYTES = 2**32 - 1  # a qdisc's limit has 32 bits
WAYS = ("down", "up")
OWN = ("title", "stand_in", "recorded", "published", "assumed")  # of each profile: no other profile can state them
BufferNumber = Annotated[int, Field(ge=FRAME_BYTES, le=MOST_BUFFER_BYTES)]
BufferBytes = Annotated[Once | Annotated[BufferNumber, Tag("~number")], Discriminator(kind)]  # one value per trial


class Frames(Strict):
    """A link that sends in frames (lab/kernel/qdisc/sch_delay_line.c): WiFi's aggregates, a scheduler's grants."""

    period_ms: Milliseconds
    packets: Annotated[int, Field(ge=1, lt=2**31)] | None = None  # without: a frame takes all that waits


class OnDemand(Strict):
    """Capacity granted in frames for an earlier report of demand (lab/kernel/qdisc/on_demand.h)."""

    frame_ms: Milliseconds
    guaranteed_pkts: PacketsOnce
    request_delay_ms: DelayOnce
    cap_bytes: BytesOnce
    report: Literal["backlog", "new", "rate"]
    period_ms: Milliseconds | None = None  # between reports of a rate

    @model_validator(mode="after")
    def _whole_packets(self) -> "OnDemand":
        if isinstance(self.guaranteed_pkts, Choice) and any(value % 1 for value in self.guaranteed_pkts.values):
            raise ValueError("a link on demand whose guaranteed_pkts are chosen from whole numbers")
        return self

    @model_validator(mode="after")
    def _period_of_a_rate(self) -> "OnDemand":
        if (self.report == "rate") != (self.period_ms is not None):
            raise ValueError("a link on demand with period_ms where its report is a rate, and only there")
        if self.period_ms and self.period_ms > MOST_FRAMES * self.frame_ms:
            raise ValueError(f"a link on demand with period_ms of at most {MOST_FRAMES} frames")
        return self


SeriesBegin = Literal["trial", "syn", "data"]


class Way(Strict):
    """One direction: a bottleneck with its buffer and queue, then the delay line."""

    rate_mbps: Rate | None = None
    opportunities: Series | None = None  # replayed packet by packet, instead of a rate
    on_demand: OnDemand | None = None  # or a link whose rate follows demand
    delay_ms: Delay | None = None
    loss_pct: Percent = 0.0
    buffer_bytes: BufferBytes | None = None
    buffer_bdps: Positive | None = None  # of the nominal rate and RTT
    queue: Queue = queue("bfifo")
    frames: Frames | None = None

    @property
    def shaped(self) -> bool:
        return any(given is not None for given in (self.rate_mbps, self.opportunities, self.on_demand))

    @model_validator(mode="after")
    def _one_bottleneck(self) -> "Way":
        given = [name for name in ("rate_mbps", "opportunities", "on_demand") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"a direction with one of {' and '.join(given)}")
        buffers = [name for name in ("buffer_bytes", "buffer_bdps") if getattr(self, name) is not None]
        if len(buffers) != (1 if self.shaped else 0):
            raise ValueError("a direction with either buffer_bytes or buffer_bdps where it has a bottleneck")
        if self.on_demand and self.buffer_bdps:
            raise ValueError("buffer_bytes where the rate is on demand: it has no bandwidth-delay product")
        if self.opportunities and (unused := self.opportunities.changed(OF_VALUES)):
            raise ValueError(f"opportunities without {unused[0]}: each of them passes as it was recorded")
        return self


class RecordedRtt(Strict):
    """A recorded RTT: its smallest value is the base, half each way; the variation is put where it arose."""

    series: Series
    put_on: Literal["up", "down", "both"]


class Noise(Strict):
    """What each trial's seed samples, in addition to the phases of series and models."""

    start_phase_ms: Annotated[Real, Field(ge=0, le=60_000)] = 0.0
    # The server's process begins so late at most, uniformly; 0: at once. The default is chosen, not measured: a process
    # that wakes up waits up to a tick of the scheduler for another one, 4 ms with Debian's CONFIG_HZ=250.
    server_start_ms: Annotated[Real, Field(ge=0, le=1000)] = 4.0


class Profile(Strict):
    """One link, with three lists of where its figures come from, each entry with its source."""

    title: Annotated[str, Field(min_length=1)]
    rtt_ms: RecordedRtt | None = None
    down: Way
    up: Way
    noise: Noise = Noise()
    # Time 0 of series and schedules: the begin of the trial (of `lab shell`: of the prompt), or when the download's SYN
    # reaches the server, or when the server sends the first data. Until then: mean rate, first delays.
    series_begin: SeriesBegin = "trial"
    # The modelled profile that runs, under its own name, where this one's recordings are not fetched.
    stand_in: Annotated[str | None, Field(exclude=True)] = None
    recorded: list[str]  # on a real link
    published: list[str] = []  # figures of papers
    assumed: list[str]  # the rest: a choice, with its reason
    _file: Path = PrivateAttr(default=Path("profile"))

    @model_validator(mode="after")
    def _whole(self) -> "Profile":
        if not self.down.shaped or self.down.on_demand:
            raise ValueError("a profile with down.rate_mbps or down.opportunities")
        without = [way for way in ("down", "up") if getattr(self, way).delay_ms is None]
        if without and (self.rtt_ms is None or len(without) == 1):
            raise ValueError("a profile with delay_ms in both directions, or with rtt_ms")
        if self.rtt_ms and not without:
            raise ValueError("a profile with either rtt_ms or delay_ms")
        return self

    @property
    def file(self) -> Path:
        """Return where it was read, for error messages and the files it names."""
        return self._file


def series_of(profile: Profile) -> Iterator[tuple[str, Series]]:
    """Name every recorded series of a profile, with its field."""
    if profile.rtt_ms:
        yield "rtt_ms", profile.rtt_ms.series
    for name in WAYS:
        for quantity in ("rate_mbps", "opportunities", "delay_ms", "loss_pct"):
            value = getattr(getattr(profile, name), quantity)
            if isinstance(value, Series):
                yield f"{name}.{quantity}", value


def load_profile(name: str, named_in: str) -> Profile:
    """Read a profile by name, or by a path that ends in .yml; `named_in` is the file or command that names it."""
    if Path(name).suffix == ".yml":
        return read_profile(Path(name))
    known = profile_files()
    return read_profile(known[choose("profile of trace-profiles/", name, list(known), named_in, "profile")])


def read_profile(file: Path) -> Profile:
    """Read a profile from a file, with the fields of the profile that it extends."""
    content = read_yaml(file)
    if isinstance(content, dict) and "question" in content and "down" not in content:
        rule = f"left out of a link: 'lab run {shown(file)}' runs a scenario"
        raise field_error(shown(file), "question", "...", rule)
    profile = parse(Profile, _extended(file, content), file)
    profile._file = file
    return profile


def _extended(file: Path, content: Any) -> Any:
    """Add a base's fields: those that a direction has not itself, else whole ones; never its title and its sources."""
    if not isinstance(content, dict) or "extends" not in content:
        return content
    name, known = content["extends"], profile_files()
    base = read_yaml(known[choose("profile of trace-profiles/", str(name), list(known), shown(file), "extends")])
    if not isinstance(base, dict) or "extends" in base:
        raise field_error(shown(file), "extends", name, "a profile that extends none itself")
    own = {field: value for field, value in content.items() if field != "extends"}
    for way in WAYS:
        if isinstance(base.get(way), dict) and isinstance(own.get(way, {}), dict):
            own[way] = base[way] | own.get(way, {})
    return {field: value for field, value in base.items() if field not in OWN} | own
