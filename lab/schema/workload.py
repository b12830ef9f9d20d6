# SPDX-License-Identifier: GPL-2.0-or-later
"""Workloads: what a client requests over one connection, and when. One file each in lab/schema/workloads/.

Such a file, or one in the folder that LAB_WORKLOADS names, exports WORKLOAD: a model of the parameters, which samples
the exchanges of a trial. A sender with a workload is limited by its application: it has nothing to send in the pauses.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, ValidationError
from pydantic_core import PydanticCustomError

from lab.base.additions import addition_files, load_addition
from lab.base.errors import UserError
from lab.base.paths import WORKLOADS
from lab.schema.load import Real, Strict, nested

Number = Real
LEAST_REQUEST_BYTES = 16  # which hold the sizes of the request and of its response (lab/node/workload.py)
MOST_REQUEST_BYTES = 65_536
MOST_OBJECTS = 5_000  # of a trial: each is a row of trial.json
MOST_OBJECT_BYTES = 10**9
MOST_BYTES = 10**10
MOST_WAIT_S = 3600.0  # as a trial may last

RequestBytes = Annotated[int, Field(ge=LEAST_REQUEST_BYTES, le=MOST_REQUEST_BYTES)]
ObjectBytes = Annotated[int, Field(ge=1, le=MOST_OBJECT_BYTES)]
WaitS = Annotated[Number, Field(ge=0, le=MOST_WAIT_S)]


@dataclass(frozen=True)
class Exchange:
    """Requests that a client sends together, after a pause; the next exchange begins when all responses are whole."""

    group: int  # page, chunk or call that it belongs to, from 1 on
    wait_s: float
    objects_bytes: tuple[int, ...]
    media_s: float = 0.0  # seconds of play in these objects, for a client that plays them


class Workload(Strict):
    """The parameters that every workload has, and what it samples."""

    unit: ClassVar[str] = "group"  # what a group is called
    kind: str
    request_bytes: RequestBytes = 350
    buffer_s: WaitS = 0.0  # of a client that plays: it requests no more while it holds so many seconds

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> list[Exchange]:
        """Return the exchanges of one trial."""


def workloads() -> dict[str, type[Workload]]:
    """Return every workload's model by its name."""
    return _load(tuple(addition_files(WORKLOADS, "LAB_WORKLOADS").values()))


def workload_of(content: Any) -> Workload:
    """Return the workload of a scenario's field: a name, or the parameters with `kind`; a pydantic error otherwise."""
    fields = {"kind": content} if isinstance(content, str) else content
    if not isinstance(fields, Mapping):
        raise ValueError("a workload's name, or its parameters with `kind`")
    known = workloads()
    if str(fields.get("kind")) not in known:
        inner = {"type": "value_error", "loc": ("kind",), "input": fields.get("kind", "")}
        rule = f"a known workload: {', '.join(known)}"
        raise PydanticCustomError("nested", "{inner}", {"inner": inner | {"msg": rule}})
    try:
        return known[str(fields["kind"])].model_validate(dict(fields))
    except ValidationError as errors:
        raise nested(errors) from None


def exchanges(workload: Workload, seed: int) -> list[Exchange]:
    """Sample the exchanges of a trial from its seed; UserError where they are more than a trial can hold.

    Their stream of random numbers is their own, so that a workload changes nothing of the trial's link.
    """
    found = workload.sample(np.random.default_rng([seed, *b"workload"]))
    sizes = [size for each in found for size in each.objects_bytes]
    if not 1 <= len(sizes) <= MOST_OBJECTS:
        raise UserError(f"workload {workload.kind}: objects={len(sizes)}: must be from 1 to {MOST_OBJECTS} per trial")
    if sum(sizes) > MOST_BYTES or min(sizes) < 1:
        raise UserError(f"workload {workload.kind}: bytes={sum(sizes)}: must be at most {MOST_BYTES}, 1 of each object")
    return found


@cache
def _load(files: tuple[Path, ...]) -> dict[str, type[Workload]]:
    return {file.stem: _model(file) for file in files}


def _model(file: Path) -> type[Workload]:
    model = getattr(load_addition(file), "WORKLOAD", None)
    if not (isinstance(model, type) and issubclass(model, Workload)):
        raise UserError(f"{file}: WORKLOAD={model}: must be a class of lab.schema.workload.Workload")
    return model
