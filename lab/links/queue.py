# SPDX-License-Identifier: GPL-2.0-or-later
"""The queue in front of a bottleneck: what of it fills the buffer, and what drops. Parameters as in tc's manuals."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from lab.schema.load import Strict

Packets = Annotated[int, Field(ge=1, lt=2**31)]
Milliseconds = Annotated[float, Field(ge=0.001, le=60_000, strict=False)]  # tc counts microseconds, in 32 bits
FRAME_BYTES = 1514
Share = Annotated[float, Field(gt=0, le=1, strict=False)]


@dataclass(frozen=True)
class Bottleneck:
    """What a queue's settings follow from, beside its own."""

    buffer_bytes: int
    rate_bps: float
    seed: int


class Bfifo(Strict):
    """First in, first out; drops at the tail when the buffer is full."""

    kind: Literal["bfifo"]

    def spec(self, at: Bottleneck) -> dict[str, Any]:
        """Word it for a node."""
        return {"kind": "bfifo", "limit_bytes": at.buffer_bytes}


class Pfifo(Strict):
    """The same, counted in packets."""

    kind: Literal["pfifo"]
    limit_pkts: Packets

    def spec(self, at: Bottleneck) -> dict[str, Any]:  # noqa: ARG002
        """Word it for a node; its limit is its own."""
        return {"kind": "pfifo", "limit_pkts": self.limit_pkts}


class Codel(Strict):
    """CoDel (RFC 8289): drops by the time that packets spend in the queue."""

    kind: Literal["codel"]
    limit_pkts: Packets = 10_000
    target_ms: Milliseconds = 5.0
    interval_ms: Milliseconds = 100.0
    ecn: bool = False

    def spec(self, at: Bottleneck) -> dict[str, Any]:  # noqa: ARG002
        """Word it for a node; its limit is its own."""
        return {
            "kind": self.kind,
            "limit_pkts": self.limit_pkts,
            "target_us": round(self.target_ms * 1e3),
            "interval_us": round(self.interval_ms * 1e3),
            "ecn": self.ecn,
        }


class FqCodel(Codel):
    """CoDel on a queue of each flow's own (RFC 8290)."""

    kind: Literal["fq_codel"]  # type: ignore[assignment]
    flows: Annotated[int, Field(ge=1, le=65_536)] = 1024

    def spec(self, at: Bottleneck) -> dict[str, Any]:
        """Word it for a node; the buffer is what all queues may hold."""
        return super().spec(at) | {
            "flows": self.flows,
            "quantum_bytes": FRAME_BYTES,
            "memory_limit_bytes": at.buffer_bytes,
            "drop_batch_pkts": 64,
        }


class Pie(Strict):
    """PIE (RFC 8033)."""

    kind: Literal["pie"]
    limit_pkts: Packets = 1_000
    target_ms: Milliseconds = 15.0
    tupdate_ms: Milliseconds = 15.0
    alpha: Annotated[int, Field(ge=0, le=32)] = 2
    beta: Annotated[int, Field(ge=0, le=32)] = 20
    ecn: bool = False

    def spec(self, at: Bottleneck) -> dict[str, Any]:  # noqa: ARG002
        """Word it for a node; its limit is its own."""
        return {
            "kind": "pie",
            "limit_pkts": self.limit_pkts,
            "target_us": round(self.target_ms * 1e3),
            "tupdate_us": round(self.tupdate_ms * 1e3),
            "alpha": self.alpha,
            "beta": self.beta,
            "ecn": self.ecn,
            "bytemode": False,
        }


class Red(Strict):
    """Random early detection; both thresholds are shares of the buffer."""

    kind: Literal["red"]
    min_share: Share
    max_share: Share
    probability: Share = 0.02
    ecn: bool = False

    @model_validator(mode="after")
    def _in_order(self) -> "Red":
        if self.min_share >= self.max_share:
            raise ValueError("a min_share below max_share")
        return self

    def spec(self, at: Bottleneck) -> dict[str, Any]:
        """Word it for a node."""
        least, most = (round(share * at.buffer_bytes) for share in (self.min_share, self.max_share))
        return {
            "kind": "red",
            "limit_bytes": at.buffer_bytes,
            "min_bytes": least,
            "max_bytes": most,
            "avpkt_bytes": FRAME_BYTES,
            "burst_pkts": round((2 * least + most) / (3 * FRAME_BYTES)) + 1,  # as tc-red(8) advises
            "bandwidth_bps": at.rate_bps,
            "probability": self.probability,
            "ecn": self.ecn,
        }


class Cake(Strict):
    """CAKE without its shaper: the bottleneck has its own."""

    kind: Literal["cake"]
    rtt_ms: Milliseconds = 100.0

    def spec(self, at: Bottleneck) -> dict[str, Any]:
        """Word it for a node."""
        return {
            "kind": "cake",
            "flowmode": "triple-isolate",
            "rtt_us": round(self.rtt_ms * 1e3),
            "memlimit_bytes": at.buffer_bytes,
        }


class StepDrop(Strict):
    """Drops a share of arrivals at random while more than a share of the buffer is full (a Viasat gateway)."""

    kind: Literal["step_drop"]
    threshold_share: Share
    drop_pct: Annotated[float, Field(ge=0, le=100, strict=False)]

    def spec(self, at: Bottleneck) -> dict[str, Any]:
        """Word it for a node."""
        return {
            "kind": "step_drop",
            "limit_bytes": at.buffer_bytes,
            "threshold_bytes": round(self.threshold_share * at.buffer_bytes),
            "drop_pct": self.drop_pct,
            "seed": at.seed,
        }


Queue = Annotated[Bfifo | Pfifo | Codel | FqCodel | Pie | Red | Cake | StepDrop, Field(discriminator="kind")]
