# SPDX-License-Identifier: GPL-2.0-or-later
"""A question's file: what is asked, over which links, which forms are compared with which base."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from lab.base.choice import choose
from lab.schema.load import Strict, load

FOLDER = Path(__file__).parent


class Form(Strict):
    """A sender of cca.yml, or a version of SEARCH, with parameters that differ from its own."""

    sender: str
    params: dict[str, int] = {}
    second_rtt: bool = False  # replayed: the second RTT sample stands for the first
    current_rtt: bool = False  # window: what the last round trip delivered, not the last initial one


class Question(Strict):
    """One open question, and the experiment that answers it."""

    question: str
    asked: str  # by whom, where
    # replayed: forms of SEARCH over the same downloads without HyStart; whole: a trial of each form on the same draws;
    # workload: the same for short flows; window: what is left in flight at a replayed exit, against the true BDP.
    way: Literal["replayed", "whole", "workload", "window"]
    links: list[str] = []  # kinds of link or profiles; a profile of profiles/ by its name
    scenarios: list[str] = []  # of a workload
    vary: dict[str, list[float]] = {}  # one field of the profile, with its values
    base: str  # the form that others are compared with
    forms: Annotated[dict[str, Form], Field(min_length=1)]
    measure: Literal["chokepoint", "early"] = "chokepoint"  # what decides, of exits
    trials: Annotated[int, Field(ge=6)] = 12
    duration_s: int | None = None
    not_run: list[str] = []  # what would belong to the answer, and why it was not run

    @model_validator(mode="after")
    def _whole(self) -> "Question":
        if self.base not in self.forms:
            raise ValueError(f"a question whose base, {self.base}, is one of its forms")
        if bool(self.scenarios) != (self.way == "workload") or bool(self.links) == bool(self.scenarios):
            raise ValueError("a question with scenarios where its way is a workload, else with links")
        if len(self.vary) > 1:
            raise ValueError("a question that varies one field")
        return self


def names() -> list[str]:
    """Return the names of all questions, in the order of the page: that of their numbers."""
    return sorted((file.stem for file in FOLDER.glob("*.yml")), key=lambda name: int(name.partition("-")[0]))


def question(name: str) -> Question:
    """Read a question; UserError where there is none of the name."""
    known: dict[str, Any] = {each: FOLDER / f"{each}.yml" for each in names()}
    return load(Question, known[choose("question", name, list(known), "command line", "question")])
