# SPDX-License-Identifier: GPL-2.0-or-later
"""The queue in front of a bottleneck, as a profile has it: one model per kind of node/qdiscs/kinds/ that is a queue.

The fields, their bounds and defaults are those of the kind's table. Parameters are named as in tc's manuals.
"""

import math
from functools import partial, reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, create_model, model_validator

from lab.node.qdiscs import kinds, qdisc_kind
from lab.node.qdiscs.qdisc_kind import Bottleneck, Kind, Spec, TcKind
from lab.schema.load import Real, Strict

Milliseconds = Annotated[Real, Field(ge=qdisc_kind.MILLISECONDS["ge"], le=qdisc_kind.MILLISECONDS["le"])]


class QueueModel(Strict):
    """The fields of one kind; a subclass per kind adds them."""

    kind: str

    def spec(self, at: Bottleneck) -> Spec:
        """Return the spec of the qdisc for a node (lab/node/qdiscs/qdisc_kind.py)."""
        return qdisc_kind.spec_of(self.kind, kinds.find(self.kind), self.model_dump(), at)

    def fault(self, buffer_bytes: int, frame_bytes: int) -> str | None:
        """Return the rule that the fields break with a trial's buffer and frames; null where they break none."""
        values = {**self.model_dump(), "buffer_bytes": buffer_bytes, "frame_bytes": frame_bytes}
        return next((rule.text for rule in kinds.find(self.kind).buffer_rules if not rule.holds(values)), None)

    @property
    def counts_packets(self) -> bool:
        return qdisc_kind.WHOLE_FRAMES in kinds.find(self.kind).settings

    @property
    def clock_s(self) -> float:
        """Return until when after a kernel's boot this queue drops as it does at first."""
        kind = kinds.find(self.kind)
        return kind.clock_s if isinstance(kind, TcKind) else math.inf

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the fields alone: the class of a kind is made when this module is imported, and has no name in it."""
        return partial(queue, **self.model_dump()), ()

    @model_validator(mode="after")
    def _by_its_rules(self) -> "QueueModel":
        for rule in kinds.find(self.kind).rules:
            if not rule.holds(self.model_dump()):
                raise ValueError(rule.text)
        return self


def queue(kind: str, **fields: Any) -> QueueModel:
    """Return the model of a queue with fields of one's own."""
    return MODELS[kind].model_validate({"kind": kind, **fields})


def _model(name: str, kind: Kind) -> type[QueueModel]:
    fields = [setting.field for setting in kind.settings if setting.field]
    defaults = {each.name: ... if each.default is None and not each.optional else each.default for each in fields}
    definitions: dict[str, Any] = {field.name: (_type(field), defaults[field.name]) for field in fields}
    definitions = {"kind": (Literal[name], ...)} | definitions
    model: type[QueueModel] = create_model(name, __base__=QueueModel, __doc__=kind.queue, **definitions)
    return model


def _type(field: qdisc_kind.Field) -> Any:
    """Return a field's annotation: a whole number may stand for a fraction, but not the other way round."""
    bounded: Any = Annotated[field.type, Field(strict=field.type is not float, **field.bounds)]
    return bounded | None if field.optional else bounded


MODELS = {name: _model(name, kinds.find(name)) for name in kinds.names() if kinds.find(name).queue}

if TYPE_CHECKING:
    Queue = QueueModel
else:
    Queue = Annotated[reduce(or_, MODELS.values()), Field(discriminator="kind")]
