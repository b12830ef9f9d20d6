# SPDX-License-Identifier: GPL-2.0-or-later
"""What a check gets of a submission: its answers, its sources as text, and trials of its modules.

Nothing of a submission is executed but its modules, in the virtual kernel. Whatever the submission has wrong is a
UserError of one line, which costs the check that met it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from lab_try.module.build import OwnModule
from lab_try.module.source import OwnSource
from lab_try.senders import Passed, own_senders

from lab.base.errors import UserError, field_error
from lab.base.named_files import profile_files
from lab.judge.seen_exit import contradiction
from lab.links.profile import Profile, load_profile, read_profile
from lab.links.recorded import Series
from lab.report.trust import InvalidTrial
from lab.runs.experiment import Experiment
from lab.schema.cca import Cca, load_cca
from lab.schema.load import parse, parse_yaml
from lab.schema.scenario import Scenario
from lab.schema.topology import load_topology
from lab_course.answers import Answers, read_answers
from lab_course.assignment import HIDDEN_PART, Assignment
from lab_course.bench import Bench
from lab_course.ran import Ran
from lab_course.seeds import hidden_seed, public_seed
from lab_course.submission import Submission
from lab_course.symbols import require_plain_source, require_symbols

COMMAND_LINE = "check"
OWN = "own"
QUESTION = "What does the grader see?"


@dataclass(frozen=True)
class Download:
    """How a trial is run."""

    duration_s: int = 5
    mtu_bytes: int | None = None
    pacing: Literal["fq"] | None = None
    params: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))  # of a module


@dataclass(frozen=True)
class Work:
    """A submission on the bench, for the checks of one part."""

    assignment: Assignment
    submission: Submission
    bench: Bench
    part: str
    key: bytes | None = None

    @property
    def student(self) -> str:
        return self.submission.student

    def seed(self, number: int = 0) -> int:
        """Return the student's seed of this part; each number is another one."""
        if self.part == HIDDEN_PART:
            if self.key is None:
                raise UserError(f"{COMMAND_LINE}: key: must be given: hidden seeds need it")
            return hidden_seed(self.key, self.assignment.name, self.student, number)
        return public_seed(self.assignment.name, self.student, number)

    @cached_property
    def answers(self) -> Answers:
        """Return the answers; UserError where there are none that can be read."""
        return read_answers(self.submission)

    def source(self, name: str) -> str:
        """Return a file that was handed in, as text."""
        return self.submission.text(name)

    def build(self, name: str, module: str | None = None, given: Mapping[str, bytes] | None = None) -> OwnModule:
        """Build a C file that was handed in, or the `module` of the assignment's `given` files with one as a header.

        UserError names the compiler's first error, or the symbol that no module may take.
        """
        require_plain_source(self.source(name), name)
        module = module or name
        kbuild = f"obj-m := {module.removesuffix('.c')}.o\n".encode()
        files = {**(given or {}), name: self.submission.content(name), "Kbuild": kbuild}
        built = self.bench.build(OwnSource(Path(name), Path(), Path(module).stem, files))
        require_symbols(built.file.read_bytes(), name)
        return built

    def passed(self, module: str | OwnModule) -> Passed:
        """Build a C file, and let its module pass the smoke test: a second of flows, with losses and a reset."""
        try:
            return self.bench.smoke(self.build(module) if isinstance(module, str) else module)
        except UserError as error:
            raise UserError(str(error).partition(" (log: ")[0]) from None

    def run(self, sender: str | Passed, link: str | Profile, seed: int, download: Download = Download()) -> Ran:
        """Run one download over a link, of a sender of the lab (its name) or of the submission (.c file or module).

        UserError where the submission's trial is not valid, or the packets contradict the exit that it recorded.
        """
        profile = link if isinstance(link, Profile) else self.link(link)
        if isinstance(sender, Passed) or sender.endswith(".c"):
            passed = sender if isinstance(sender, Passed) else self.passed(sender)
            cca, module = self._own(passed, download), passed.module
        else:
            cca, module = load_cca(sender, COMMAND_LINE, "sender"), None
            cca = cca.model_copy(update={"params": {**cca.params, **download.params}})
        ran = Ran(self.bench.run(_experiment(cca, profile, seed, download), module), cca, profile)
        if module and not ran.trial.valid:
            reason = InvalidTrial.of(cca.name, 1, ran.trial.meta["certificate"]).reason
            raise UserError(f"a trial: {reason}: must be valid: no points for a trial that the lab would leave out")
        if module and (why := contradiction(ran.trial, ran.exit)):
            raise UserError(f"{why}: no points for a record that they contradict")
        return ran

    def _own(self, passed: Passed, download: Download) -> Cca:
        """Return the only sender that a module registers, by a name that no student chooses."""
        senders = list(own_senders([passed]).values())
        if len(senders) != 1:
            name = passed.module.source.path
            raise field_error(name, "algorithms", ", ".join(each.algorithm for each in senders), "one")
        params = {name: value for name, value in download.params.items() if name in passed.module.parameters}
        return senders[0].model_copy(update={"name": OWN, "label": "your sender", "params": params})

    def link(self, name: str) -> Profile:
        """Return a link of the assignment, or of the lab."""
        if name in profile_files():
            return load_profile(name, COMMAND_LINE)
        return read_profile(self.assignment.link_file(name, self.part))

    def own_link(self, name: str) -> Profile:
        """Return a link that the student handed in: numbers and models, no recording, no other profile."""
        content = parse_yaml(self.source(name), name)
        if isinstance(content, dict) and "extends" in content:
            raise field_error(name, "extends", content["extends"], "left out: state every field")
        profile = parse(Profile, content, Path(name))
        values = [*vars(profile.down).values(), *vars(profile.up).values()]
        if profile.rtt_ms is not None or any(isinstance(value, Series) for value in values):
            raise field_error(name, "series", "", "left out: a link of numbers and models")
        return profile


def _experiment(cca: Cca, profile: Profile, seed: int, download: Download) -> Experiment:
    content = {
        "question": QUESTION,
        "topology": "path",
        "profile": "graded",
        "ccas": [cca.name],
        "trials": 1,
        "duration_s": download.duration_s,
        "seed": seed,
        "mtu_bytes": download.mtu_bytes,
        "pacing": download.pacing,
    }
    scenario = parse(Scenario, content, Path(COMMAND_LINE))
    return Experiment("graded", scenario, profile, load_topology("path", COMMAND_LINE), {cca.name: cca})
