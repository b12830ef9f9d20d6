# SPDX-License-Identifier: GPL-2.0-or-later
"""An experiment without a scenario file: some senders over one link."""

from pathlib import Path
from typing import Any

from lab.base.command_line import COMMAND_LINE
from lab.base.named_files import require_name
from lab.runs.experiment import Experiment, assemble
from lab.schema.load import parse
from lab.schema.scenario import Scenario
from lab.senders.named import resolved

DEFAULT_S = 30
DEFAULTS = {"topology": "path", "trials": 3, "duration_s": DEFAULT_S, "seed": 1}


def try_link(profile: str, ccas: list[str], overrides: dict[str, Any]) -> Experiment:
    """Build the experiment `try-<profile>`; overrides that are None take the defaults."""
    given = {name: value for name, value in overrides.items() if value is not None}
    ccas, senders = resolved(ccas)
    do = "does" if len(ccas) == 1 else "do"
    question = f"When {do} {', '.join(ccas)} leave slow start on link {Path(profile).stem}?"
    content = {"question": question, "profile": profile, "ccas": ccas} | DEFAULTS | given
    name = require_name(Path(profile).stem, COMMAND_LINE)
    scenario = parse(Scenario, content, Path(COMMAND_LINE))
    return assemble(f"try-{name}", scenario, COMMAND_LINE, "cca", senders)
