# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab shell`: a prompt in an emulated network, or its lines from standard input."""

import codecs
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TextIO

from lab_vm.real_time import in_real_time
from rich.console import Console

from lab.backends.records import TrialError
from lab.base import sandbox_mode
from lab.base.errors import COMMAND_LINE, UserError, field_error
from lab.base.scratch import copy_folder, scratch_folder
from lab.commands.lines import say
from lab.commands.prepare import prepare
from lab.kernel.recipe import Recipe
from lab.kernel.versions import DEFAULT
from lab.node.plan import Plan
from lab.runs.experiment import Experiment, try_link
from lab.runs.trial import Job
from lab.runs.trial import prepare as prepare_plan
from lab_shell import prompt
from lab_shell.node.shell import FILES
from lab_shell.prompt import Prompt

SENDER = "cubic"  # the kernel's default; programs choose another one by its name
SESSION = "session.txt"  # of --keep: every line with what it printed
HARMLESS = {"\n", "\t", "\r"}


@dataclass(frozen=True)
class ShellRequest:
    """Which network, and how its lines are executed."""

    profile: str
    topology: str | None = None
    seed: int | None = None
    duration_s: int | None = None
    real_time: bool = False
    stop_at_failure: bool = False
    keep: Path | None = None

    def experiment(self) -> Experiment:
        """Load it; UserError where something is not known, or what is to be kept has no place."""
        if self.keep and self.keep.exists():
            raise field_error(COMMAND_LINE, "keep", self.keep, "a folder that does not exist yet")
        overrides = {"topology": self.topology, "seed": self.seed, "duration_s": self.duration_s, "trials": 1}
        return try_link(self.profile, [SENDER], overrides)


def shell(request: ShellRequest, lines: TextIO, console: Console) -> int:
    """Execute lines in a network that is up meanwhile; return the exit status of the last, or the first failed."""
    experiment = request.experiment()
    virtual = prepare(Recipe(DEFAULT), console)
    if protection := sandbox_mode.less():
        say(console, protection)
    with scratch_folder() as place:
        folder = place / "trial"
        folder.mkdir()
        plan = prepare_plan(Job(experiment, SENDER, 1, folder, virtual), folder)
        session = Session(request, sorted(plan["topology"]["nodes"]), place)
        try:
            with prompt.opened(
                _of_a_prompt(plan, request.real_time), folder, virtual.kernel, virtual.world.root
            ) as opened:
                session.serve(opened, lines)
        except TrialError as error:
            raise UserError(str(error)) from None
        finally:
            if request.keep and (folder / FILES).is_dir():  # also where a line was refused, or Ctrl-C ended them
                keep(folder / FILES, place / SESSION, request.keep)
    return session.status


def keep(files: Path, session: Path, kept: Path) -> None:
    """Copy what was written, and the session, to a folder that is whole or not there."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    with scratch_folder(kept.parent) as draft:
        copy_folder(files, draft / kept.name)
        shutil.copy(session, draft / kept.name)
        (draft / kept.name).rename(kept)


def _of_a_prompt(plan: Plan, real_time: bool) -> Plan:
    """Return a plan without what records a trial, whose trace would take most of the memory."""
    plan = in_real_time(plan, "netns") if real_time else plan
    return {
        **plan,
        "work": "lab_shell.node.shell.run_shell",
        "memory_mb": plan["memory_mb"] - plan["trace"]["buffer_kb"] // 1024,
    }


class Session:
    """The lines of one user, and the status that the command ends with."""

    def __init__(self, request: ShellRequest, nodes: list[str], folder: Path) -> None:
        self.request, self.nodes, self.status = request, nodes, 0
        self._record = (folder / SESSION).open("w")

    def serve(self, opened: Prompt, lines: TextIO) -> None:
        """Execute lines until they end, or one fails that must not."""
        with self._record:
            if lines.isatty():
                self._converse(opened)
                self.status = 0
            else:
                self._execute_all(opened, lines)

    def _execute_all(self, opened: Prompt, lines: TextIO) -> None:
        for number, line in enumerate(iter(lines.readline, ""), 1):
            if line.strip() and not line.lstrip().startswith("#"):
                self._execute(opened, line.strip(), f"standard input:{number}")
                if self.status and self.request.stop_at_failure:
                    return

    def _converse(self, opened: Prompt) -> None:
        import readline  # noqa: F401  # here: it changes how input() reads

        print(f"{', '.join(self.nodes)} over {self.request.profile}: help shows what to type, Ctrl-D ends", flush=True)
        while True:
            try:
                line = input("lab> ").strip()
            except EOFError:
                return print()
            except KeyboardInterrupt:
                print()
                continue
            if line in ("exit", "quit"):
                return None
            if line == "help":
                print(self._help())
            elif line:
                try:
                    with _interrupting(opened):
                        self._execute(opened, line, "prompt")
                except UserError as error:
                    print(error)

    def _help(self) -> str:
        clock = "real time" if self.request.real_time else "virtual time: the clock stands while no command runs"
        return "\n".join(
            [
                f"NODE COMMAND, of the nodes {', '.join(self.nodes)}; {clock}. For example:",
                *("  client ping -c3 server", "  server iperf3 -s &", "  client iperf3 -c server -R -t 10"),
                *("  server ss -ti", f"  {self.nodes[1]} tc -s qdisc", "Ctrl-C ends a command, Ctrl-D the network."),
            ]
        )

    def _execute(self, opened: Prompt, line: str, where: str) -> None:
        node, _, command = line.partition(" ")
        if node not in self.nodes:
            raise field_error(where, "node", node, f"one of {', '.join(self.nodes)}, with a command behind it")
        if not command.strip():
            raise field_error(where, "command", "", f"behind the node, such as: {node} ip address")
        self._record.write(f"lab> {line}\n")
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.status = opened.run(node, command, lambda piece: self._show(decoder.decode(piece)))

    def _show(self, text: str) -> None:
        """Print output as it comes: to a terminal nothing that would steer it."""
        self._record.write(text)
        if sys.stdout.isatty():
            text = "".join(each if each.isprintable() or each in HARMLESS else "?" for each in text)
        sys.stdout.write(text)
        sys.stdout.flush()


@contextmanager
def _interrupting(opened: Prompt) -> Iterator[None]:
    """Let the first Ctrl-C end the command that runs, and a second one the network."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        with suppress(OSError):
            opened.interrupt()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
