# SPDX-License-Identifier: GPL-2.0-or-later
"""The first trials of a sender over a user's stack: two short downloads, and the first fault in one line.

The second one shows whether the stack repeats itself: its clock and its random numbers are the guest's, unless it takes
others. The answer is kept with the stack, so that a sender passes once.
"""

from dataclasses import replace
from pathlib import Path

from lab.backends import boot
from lab.backends.records import TrialError
from lab.backends.virtual import Virtual
from lab.base.errors import UserError, field_error
from lab.base.plain_file import write_whole
from lab.base.scratch import scratch_folder
from lab.kernel.build import digest_of_files
from lab.runs.experiment import Experiment, try_link
from lab.runs.trial import Job, prepare, store
from lab.schema.cca import Cca
from lab.senders.way import Progress
from lab_quic.stack.plan import PLACE
from lab_quic.stack.prepared import stored

PROFILE, DURATION_S = "geo-small", 3
LEAST_BYTES = 20_000  # more than a first window
PROCESSOR_S = 60  # of the kernel and both programs; a trial takes a tenth of it
TABLES, BYTES = ("packets.parquet", "acks.parquet", "exits.parquet"), ("client.pcapng.zst",)
SAME, OTHER_BYTES, DIFFERENT = "the same bytes", "the same times and sizes, with other bytes", "different"
CODE = [*sorted(Path(__file__).parent.glob("*.py")), *sorted(Path(__file__).parents[1].glob("node/*.py"))]


def repeats(cca: Cca, virtual: Virtual, progress: Progress) -> bool:
    """Return whether two trials of one seed have the same tables; UserError where there is no result."""
    prepared = stored(cca.module_digest or "")
    name = f"passed-{cca.algorithm}-{digest_of_files(CODE, virtual.digest, virtual.world.digest)}"
    file = prepared.folder / name
    if not file.exists():
        progress(f"{cca.label}: two first trials of a stack, of one seed")
        found = _compared(*(_trial(cca, virtual) for _ in range(2)))
        if found != SAME:
            progress(f"{cca.label}: they are {found} (docs/stacks.md has reasons)")
        write_whole(file, found)
    return file.read_text() != DIFFERENT


def _compared(first: dict[str, bytes], second: dict[str, bytes]) -> str:
    if first == second:
        return SAME
    return OTHER_BYTES if all(first[name] == second[name] for name in TABLES) else DIFFERENT


def _trial(cca: Cca, virtual: Virtual) -> dict[str, bytes]:
    """Run a trial; return what is compared of it."""
    experiment = _experiment(cca)
    with scratch_folder() as folder:
        job = Job(experiment, cca.name, 1, folder, virtual)
        try:
            plan = prepare(job, folder)
            more = {PLACE: stored(cca.module_digest or "").files}
            boot.run_plan(plan, folder, virtual.kernel, virtual.world.root, PROCESSOR_S, more)
            _require_going(store(job, plan, folder)["flows"][0]["bytes"])
        except (TrialError, UserError) as error:
            line = str(error)
            own = line if line.startswith(f"{cca.stack}: ") else f"{cca.stack}: {line}"
            raise UserError(f"{own} (control {cca.algorithm}, on {PROFILE})") from None
        return {name: (folder / name).read_bytes() for name in (*TABLES, *BYTES)}


def _require_going(received_bytes: float) -> None:
    if received_bytes < LEAST_BYTES:
        rule = f"at least {LEAST_BYTES} in {DURATION_S} s: it hangs, or the client's window is too small"
        raise field_error("download", "bytes", received_bytes, rule)


def _experiment(cca: Cca) -> Experiment:
    """Return the experiment of one sender on a small link."""
    plain = try_link(PROFILE, ["cubic"], {"trials": 1, "duration_s": DURATION_S})
    scenario = plain.scenario.model_copy(update={"ccas": [cca.name]})
    return replace(plain, scenario=scenario, ccas={cca.name: cca})
