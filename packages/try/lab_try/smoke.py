# SPDX-License-Identifier: GPL-2.0-or-later
"""The smoke test of a user's own module: a second of flows in a virtual kernel, and what went wrong there."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.backends import boot
from lab.backends.records import LOG, TrialError
from lab.base import paths
from lab.base.errors import UserError
from lab.base.plain_file import write_whole
from lab.base.scratch import scratch_folder
from lab.kernel.build import Kernel, digest_of_files
from lab.node.measure.splats import PLACE, splats
from lab.schema.cca import ALGORITHM, Value
from lab.tables.kernel_log import since_init
from lab_try.module.build import OwnModule, Where
from lab_try.node.smoke import STEP_FILE, Flow, Smoke, smoke

HUGE_CWND_PKTS = 1_000_000  # the link holds 130 segments
ENDLESS = "of processor time"  # how an ended kernel's error ends
OF_EVERY_MODULE = "loading out-of-tree module taints kernel."
NAME_RULE = "must be letters, digits and _ . - only, and begin with no . or -"
OF_THE_END = ("Modules linked in:", "Kernel panic")  # what a kernel prints that is ended: see Watched
MEMORY = re.compile(r"Out of memory|page allocation failure|System is deadlocked on memory")
MEANINGS = (  # of the first line of a complaint that does not explain itself
    ("Segfault with no mm", "a bad pointer (Segfault with no mm)"),
    ("Kernel mode fault", "a bad pointer (Kernel mode fault)"),
    ("tried to access user memory", "a bad pointer, or a stack that is full (Kernel tried to access user memory)"),
    ("Kernel mode signal 4", "an illegal instruction, as a constant division by zero becomes (Kernel mode signal 4)"),
    ("Kernel mode signal 8", "a division by zero (Kernel mode signal 8)"),
    ("scheduling while atomic", "a hook that sleeps (scheduling while atomic)"),
    ("sleeping function called from invalid context", "a hook that sleeps (BUG: sleeping function called)"),
)
HINTS = (
    (
        "does not implement required ops",
        "ssthresh, undo_cwnd, and cong_avoid or cong_control must be set (net/ipv4/tcp_cong.c)",
    ),
    ("already registered", "its name is taken by a sender of this kernel: give .name another one"),
    ("module is already loaded", "a module of this name is part of the kernel: name the file otherwise"),
    ("File exists", "a module of this name is part of the kernel: name the file otherwise"),
    ("Invalid module format", "it was built for another kernel"),
    ("Device or resource busy", "it cannot be unloaded: it has no module_exit"),
    ("invalid for parameter", "the value does not fit the parameter's type, or its own check refuses it"),
    ("could not insert module", "its module_init returned this error, or it does not take a parameter"),
    ("virtual kernel: exit status 0", "something ended the kernel, as a power-off does"),
    ("is in use", "a flow still holds it: a hook kept a reference, or .owner is not THIS_MODULE"),
)
HERE = Path(__file__).parent
MEASURED = [paths.LAB / "node" / "measure" / name for name in ("kmemleak.py", "splats.py")]
FILE = "own/own.ko"
MEMORY_MB, SANITIZED_MEMORY_MB = 256, 1024
PROCESSOR_S, SANITIZED_PROCESSOR_S = 8, 15  # of a test that takes 1 and 4: a hook that does not return ends here


@dataclass(frozen=True)
class Finding:
    """One fault, and the line of the user's source where it was, if that is known."""

    message: str
    place: str | None = None


def faults(log: str, error: str, step: str, result: Smoke | None, where: Where) -> Iterator[Finding]:
    """Yield what was wrong, the gravest first; nothing for a test that passed."""
    if MEMORY.search(log):
        yield Finding(f"{step}: the kernel's memory is used up: something is allocated and never freed")
    if result:
        for leak in result["leaks"]:
            yield Finding(f"memory that neither release nor the module's exit frees: {leak}")
    ended = ENDLESS in error
    for splat in splats(since_init(log)):  # before it there is no module
        if not (ended and splat.startswith(OF_THE_END)):
            place, function = _first_place(splat, where) if PLACE.search(splat) else _first_place(log, where)
            yield Finding(f"{'while it ran' if result else step}: {_meaning(splat)}{function}", place)
    if ended:
        place, function = _first_place(log, where)
        what = "a hook does not return" if function else "a hook loops or sleeps"
        yield Finding(f"{step}: {what}{function}: {error}", place)
    if error:
        hint = next((f": {hint}" for words, hint in HINTS if words in error), "")
        yield Finding(f"{step}: {_refusal(error).rstrip(' :')}{hint}")
    if result:
        yield from _result_faults(result)


def _result_faults(result: Smoke) -> Iterator[Finding]:
    for algorithm, flows in result["algorithms"].items():
        if not re.fullmatch(ALGORITHM, algorithm):
            yield Finding(f"name={algorithm!r}: {NAME_RULE}")
        for flow in flows:
            yield from _flow_faults(algorithm, flow)


def _flow_faults(algorithm: str, flow: Flow) -> Iterator[Finding]:
    most = flow["most_cwnd_pkts"]
    if not flow["least_cwnd_pkts"]:
        yield Finding(f"{algorithm}: cwnd_pkts=0: must be at least 1, or a flow never sends again")
    if most > HUGE_CWND_PKTS:
        yield Finding(f"{algorithm}: cwnd_pkts={most}: must be at most {HUGE_CWND_PKTS} on a link that holds 130")
    if not flow["got_bytes"]:
        yield Finding(f"{algorithm}: bytes=0: must move data: its window never lets a segment out")


def _first_place(log: str, where: Where) -> tuple[str | None, str]:
    """Return the source line, and the function with its offset as text, of the module's first frame in a log."""
    for found in PLACE.finditer(log):
        function, offset, module = found.groups()
        if module == where.module.name:
            exact = log[: found.start()].rpartition("\n")[2].startswith("RIP:")
            # any other frame holds the address behind a call
            return where.line(function, int(offset, 16) - (0 if exact else 1)), f", in {function}+0x{offset}"
    return None, ""


def _meaning(splat: str) -> str:
    first = splat.splitlines()[0]
    return next((meaning for words, meaning in MEANINGS if words in splat), first.strip())


def _refusal(error: str) -> str:
    """Return the kernel's own reason where a tool's error names it."""
    tool, _, kernel = error.partition("; kernel: ")
    if kernel.endswith(OF_EVERY_MODULE):
        return tool
    return f"the kernel refuses it: {kernel}" if kernel not in ("", "silent") else error


class SmokeError(UserError):
    """A module that did not pass; `log_file` keeps what the kernel printed."""

    def __init__(self, module: OwnModule, kernel: str, finding: Finding, log_file: Path) -> None:
        super().__init__(f"{finding.place or module.source.path}: {kernel}: {finding.message} (log: {log_file})")
        self.log_file = log_file


@dataclass(frozen=True)
class SmokeTest:
    """A module with its parameters, in one kernel."""

    module: OwnModule
    params: dict[str, Value]
    kernel: Kernel
    world: Path
    sanitized: bool = False

    def run(self) -> Smoke:
        """Return what the module registered; SmokeError where a flow, the module or the kernel failed."""
        stored = self.module.folder / f"{self._name}.json"
        if not stored.exists():
            write_whole(stored, json.dumps(self._run()))
        found: Smoke = json.loads(stored.read_text())
        return found

    @property
    def _name(self) -> str:
        """Name a test of these parameters in this kernel, by this code."""
        params = [f"{name}={value}" for name, value in sorted(self.params.items())]
        code = [*sorted(HERE.glob("*.py")), HERE / "node" / "smoke.py", *MEASURED]
        return f"smoke-{digest_of_files(code, self.kernel.folders[0].name, *params)}"

    @property
    def _kernel_label(self) -> str:
        return "smoke test in the sanitized kernel" if self.sanitized else "smoke test"

    def _run(self) -> Smoke:
        with scratch_folder() as folder:
            (folder / FILE).parent.mkdir()
            shutil.copyfile(self.module.file, folder / FILE)
            result, error = self._call(folder)
            log = (folder / LOG).read_text() if (folder / LOG).exists() else ""
            step = (folder / STEP_FILE).read_text()[:100] if (folder / STEP_FILE).exists() else "booting"
        log_file = write_whole(self.module.folder / f"{self._name}.log", log)
        where = Where(self.module)
        for finding in faults(log, error, step, result, where):
            raise SmokeError(self.module, self._kernel_label, finding, log_file)
        assert result
        return result

    def _call(self, folder: Path) -> tuple[Smoke | None, str]:
        """Run the test; returns its result, or the error that ended it."""
        arguments = {
            "file": FILE,
            "name": self.module.name,
            "params": self.params,
            "depends": list(self.module.depends),
        }
        memory_mb = SANITIZED_MEMORY_MB if self.sanitized else MEMORY_MB
        processor_s = SANITIZED_PROCESSOR_S if self.sanitized else PROCESSOR_S
        try:
            called = boot.call(
                smoke, arguments, folder, self.kernel, self.world, memory_mb=memory_mb, processor_s=processor_s
            )
        except TrialError as error:
            return None, str(error)
        result: Smoke = called.result
        return result, ""
