# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab replay`: a profile on interfaces of the user's own network, without the rest of the lab."""

import json
import math
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lab_vm.host import as_root
from lab_vm.node.leases import FOLDERS
from lab_vm.real_time import roomy
from rich.console import Console

from lab.base.errors import COMMAND_LINE, UserError, field_error
from lab.links import shapes
from lab.links.draw import draw_link
from lab.links.profile import WAYS, load_profile
from lab.links.tc_alone import NETEM, require_shaper
from lab.node.plan import Shape, Spec
from lab.runs.plan import trial_seed
from lab.schema.scenario import MOST_DURATION_S

INTERFACE = re.compile(r"[\w.-]+:[\w.-]+")
PARTS = {"down": ("bottleneck", "delay-down"), "up": ("bottleneck-up", "delay-up")}


@dataclass(frozen=True)
class Where:
    """The interfaces, as NODE:IFACE: of the bottleneck, and of the delay where that is another one."""

    link: str
    delay: str | None
    way: str = "down"

    def require(self, shaper: str) -> None:
        """Raise UserError where they are no interfaces, or too few for a shaper."""
        for name, value in (("link", self.link), ("delay", self.delay)):
            if value is not None and not INTERFACE.fullmatch(value):
                raise field_error(COMMAND_LINE, name, value, "NODE:IFACE, such as clab-path-gateway:eth2")
        if self.way not in WAYS:
            raise field_error(COMMAND_LINE, "way", self.way, f"one of {', '.join(WAYS)}")
        if shaper != NETEM and self.delay in (None, self.link):
            rule = "netem, or used with --delay of another interface: the lab's own qdiscs cannot share one"
            raise field_error(COMMAND_LINE, "shaper", shaper, rule)


def replay(profile_name: str, where: Where, seed: int, duration_s: int, shaper: str, console: Console) -> None:
    """Replay what trial 1 of `lab run --profile ... --seed ...` would have, in one direction; print what came of it."""
    profile = load_profile(profile_name, COMMAND_LINE)
    require_shaper(shaper, profile, (where.way,) if where.way in WAYS else WAYS)
    where.require(shaper)
    for name, value, most in (("seed", seed, 2**63 - 1), ("duration", duration_s, MOST_DURATION_S)):
        if not (name == "duration") <= value <= most:
            raise field_error(COMMAND_LINE, name, value, f"{int(name == 'duration')} to {most}")
    drawn = trial_seed(seed, 1)
    link = draw_link(profile, duration_s, np.random.default_rng(drawn))
    wanted = _shapes(shapes.qdiscs(profile, link, drawn, shaper), where)
    for shape in wanted:
        console.print(f"{_named(shape)} for {duration_s} s; Ctrl-C ends it", soft_wrap=True, markup=False)
    place, prefix = FOLDERS
    with tempfile.TemporaryDirectory(prefix=prefix, dir=place, ignore_cleanup_errors=True) as folder:
        shapes.write_steps(profile, link, Path(folder) / "link")
        (Path(folder) / "replay.json").write_text(json.dumps({"shapes": wanted, "duration_s": duration_s}))
        status, printed, errors = attended(as_root("lab_live.node.own_network", folder))
    if status:
        raise UserError(f"replay: {(errors.strip().splitlines() or ['was killed'])[-1]}")
    console.print(printed, end="", soft_wrap=True, markup=False)


def attended(command: list[str]) -> tuple[int, str, str]:
    """Run the node's command, which follows the series on the interfaces, as root.

    Ctrl-C closes its standard input, and waits until it has taken everything down; so does whatever ends this process.
    """
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        process.wait(math.inf)  # it looks again: a Ctrl-C that comes just before a wait without a time is lost
    finally:
        printed, errors = process.communicate()
    return process.returncode, printed, errors


def _shapes(qdiscs: list[tuple[str, Spec, bool]], where: Where) -> list[Shape]:
    """Put the parts of a direction on the interfaces: the delay first, which may hold the bottleneck's qdisc."""
    at = dict(zip(PARTS[where.way], (where.link, where.delay or where.link), strict=True))
    found: list[Shape] = []
    for part, spec, has_steps in reversed(qdiscs):
        if part in at:
            node, dev = at[part].split(":")
            steps = f"link/{part}.tsv" if has_steps else None
            found.append({"part": part, "node": node, "dev": dev, "spec": roomy(spec), "steps": steps})
    return found


def _named(shape: Shape) -> str:
    follows = "follows its series" if shape["steps"] else "holds"
    return f"{shape['node']}:{shape['dev']}: {shape['part']} by {shape['spec']['kind']} {follows}"
