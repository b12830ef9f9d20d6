# SPDX-License-Identifier: GPL-2.0-or-later
"""The queue in front of a bottleneck: what of it fills the buffer, and what drops. Parameters as in tc's manuals."""

from typing import Annotated, Any, Literal

from pydantic import Field

from lab.links.models import Positive
from lab.schema.load import Strict

Packets = Annotated[int, Field(ge=1, lt=2**31)]
Share = Annotated[float, Field(gt=0, le=1, strict=False)]


class Bfifo(Strict):
    """First in, first out; drops at the tail when the buffer is full."""

    kind: Literal["bfifo"]

    def spec(self, buffer_bytes: int, seed: int) -> dict[str, Any]:  # noqa: ARG002
        """Word it for a node."""
        return {"kind": "bfifo", "limit_bytes": buffer_bytes}


class Pfifo(Strict):
    """The same, counted in packets."""

    kind: Literal["pfifo"]
    limit_pkts: Packets

    def spec(self, buffer_bytes: int, seed: int) -> dict[str, Any]:  # noqa: ARG002
        """Word it for a node."""
        return {"kind": "pfifo", "limit_pkts": self.limit_pkts}


class Codel(Strict):
    """CoDel (RFC 8289), one queue or one a flow."""

    kind: Literal["codel", "fq_codel"]
    limit_pkts: Packets = 10_000
    target_ms: Positive = 5.0
    interval_ms: Positive = 100.0
    ecn: bool = False

    def spec(self, buffer_bytes: int, seed: int) -> dict[str, Any]:  # noqa: ARG002
        """Word it for a node."""
        return {
            "kind": self.kind,
            "limit_pkts": self.limit_pkts,
            "target_us": round(self.target_ms * 1e3),
            "interval_us": round(self.interval_ms * 1e3),
            "ecn": self.ecn,
        }


class Pie(Strict):
    """PIE (RFC 8033)."""

    kind: Literal["pie"]
    limit_pkts: Packets = 1_000
    target_ms: Positive = 15.0
    tupdate_ms: Positive = 15.0
    ecn: bool = False

    def spec(self, buffer_bytes: int, seed: int) -> dict[str, Any]:  # noqa: ARG002
        """Word it for a node."""
        return {
            "kind": "pie",
            "limit_pkts": self.limit_pkts,
            "target_us": round(self.target_ms * 1e3),
            "tupdate_us": round(self.tupdate_ms * 1e3),
            "ecn": self.ecn,
        }


class Red(Strict):
    """Random early detection; both thresholds are shares of the buffer."""

    kind: Literal["red"]
    min_share: Share
    max_share: Share
    probability: Share = 0.02
    ecn: bool = False

    def spec(self, buffer_bytes: int, seed: int) -> dict[str, Any]:  # noqa: ARG002
        """Word it for a node."""
        return {
            "kind": "red",
            "limit_bytes": buffer_bytes,
            "min_bytes": round(self.min_share * buffer_bytes),
            "max_bytes": round(self.max_share * buffer_bytes),
            "probability": self.probability,
            "ecn": self.ecn,
        }


class Cake(Strict):
    """CAKE without its shaper: the bottleneck has its own."""

    kind: Literal["cake"]
    rtt_ms: Positive = 100.0

    def spec(self, buffer_bytes: int, seed: int) -> dict[str, Any]:  # noqa: ARG002
        """Word it for a node."""
        return {"kind": "cake", "limit_bytes": buffer_bytes, "rtt_us": round(self.rtt_ms * 1e3)}


class StepDrop(Strict):
    """Drops a share of arrivals at random while more than a share of the buffer is full (a Viasat gateway)."""

    kind: Literal["step_drop"]
    threshold_share: Share
    drop_pct: Annotated[float, Field(ge=0, le=100, strict=False)]

    def spec(self, buffer_bytes: int, seed: int) -> dict[str, Any]:
        """Word it for a node."""
        return {
            "kind": "step_drop",
            "limit_bytes": buffer_bytes,
            "threshold_bytes": round(self.threshold_share * buffer_bytes),
            "drop_pct": self.drop_pct,
            "seed": seed,
        }


Queue = Annotated[Bfifo | Pfifo | Codel | Pie | Red | Cake | StepDrop, Field(discriminator="kind")]
