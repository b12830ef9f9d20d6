# SPDX-License-Identifier: GPL-2.0-or-later
"""The link of a case, and what happens on it: at a time, or at a state of the sender."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from lab.schema.load import Real, Strict

MOST_EVENTS = 8
Positive = Annotated[Real, Field(gt=0)]
NotNegative = Annotated[Real, Field(ge=0)]


class When(Strict):
    """A state of the sender, found in a trial that has every earlier event: one field."""

    cwnd_pkts: Positive | None = None  # the window reaches it
    acked_pkts: NotNegative | None = None  # so many segments are acknowledged
    exit: Literal[True] | None = None  # slow start ends by the sender's own rule or by a loss
    state: Literal["open", "disorder", "cwr", "recovery", "loss"] | None = None  # of tcp_ca_state
    packet: Literal["syn_ack", "data"] | None = None  # the first such frame that comes to the client
    window_pct: Positive | None = None  # of the window at the reduction that the event before led to
    retransmit: Literal[True] | None = None  # the sender repeats a segment

    @model_validator(mode="after")
    def _one(self) -> "When":
        if len(self.model_fields_set) != 1:
            raise ValueError(f"one state of {', '.join(type(self).model_fields)}")
        return self

    @property
    def text(self) -> str:
        """Return the state as an error names it."""
        name = next(iter(self.model_fields_set))
        return f"{name}={getattr(self, name)}"


class Event(Strict):
    """What happens on the link, at a time or at a state; with neither so long after the event before."""

    at_s: NotNegative | None = None  # since the SYN
    when: When | None = None
    plus_s: NotNegative = 0.0
    plus_rtts: NotNegative = 0.0  # of the base RTT
    way: Literal["down", "up"] = "down"
    drop: list[Annotated[int, Field(ge=0)]] | None = None  # the data packets (up: ACKs) to lose, counted from 0
    loss_pct: Annotated[Real, Field(ge=0, le=100)] | None = None
    delay_ms: NotNegative | None = None
    rate_mbps: Positive | None = None
    for_s: Positive | None = None  # of what is no drop; none: until the end

    @model_validator(mode="after")
    def _whole(self) -> "Event":
        if self.at_s is not None and self.when is not None:
            raise ValueError("an event with at_s, with when, or with neither")
        if self.follows and not (self.plus_s or self.plus_rtts):
            raise ValueError("an event with plus_s or plus_rtts where it follows the one before")
        actions = [name for name in ("drop", "loss_pct", "delay_ms", "rate_mbps") if getattr(self, name) is not None]
        if len(actions) != 1:
            raise ValueError("an event with one of drop, loss_pct, delay_ms and rate_mbps")
        if self.drop is not None and (self.when is None or not self.drop):
            raise ValueError("a drop of one packet or more, at a state")
        if self.rate_mbps and self.way == "up":
            raise ValueError("an event whose rate_mbps is that of way: down")
        return self

    @property
    def follows(self) -> bool:
        """Return whether it has its time from the event before."""
        return self.at_s is None and self.when is None


class Link(Strict):
    """The path of a case: constant but for its events."""

    rate_mbps: Positive = 20.0
    rtt_ms: Positive = 40.0
    buffer_pkts: Annotated[int, Field(ge=1)] = 1000
    loss_pct: Annotated[Real, Field(ge=0, le=100)] = 0.0
    queue: dict[str, Any] | None = None
    frames_ms: Positive | None = None  # ACKs gather so long and leave together
    up_rate_mbps: Positive | None = None
    events: Annotated[list[Event], Field(max_length=MOST_EVENTS)] = []

    @model_validator(mode="after")
    def _begun(self) -> "Link":
        if self.events and self.events[0].follows:
            raise ValueError("events of which the first has at_s or when")
        return self
