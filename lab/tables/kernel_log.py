# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel of a trial printed: stored with the trial, or beside the trials where the trial has no result."""

import io
from pathlib import Path

import pyarrow as pa

from lab.base.choice import suggested
from lab.base.errors import COMMAND_LINE, UserError, field_error
from lab.base.plain_file import MEGABYTE, read_plain, write_whole

RAW = "kernel.log"  # in a trial's folder while it runs
STORED = f"{RAW}.zst"
FAILED = "failed"  # folder of a run: logs of trials without a result
INIT = "Run /usr/bin/python3 as init process"
MOST_BYTES = 16 * MEGABYTE


def keep_log(folder: Path) -> None:
    """Compress the log of a trial's folder; a backend that has none leaves none.

    A virtual kernel's lines from before its init are left out: they name memory of the host, by which no trial may
    differ.
    """
    if (folder / RAW).is_file():
        (folder / STORED).write_bytes(_compressed(raw_log(folder).encode()))


def raw_log(folder: Path) -> str:
    """Return what the kernel of a trial under way printed from its init on; nothing where its backend keeps no log."""
    file = folder / RAW
    return since_init(file.read_bytes().decode(errors="replace")) if file.is_file() else ""


def since_init(log: str) -> str:
    """Return what a virtual kernel printed from its first program on; all of another kernel's log."""
    return log[max(log.find(INIT), 0) :]


def keep_failed_log(draft: Path, run: Path, trial: str) -> None:
    """Store the log of a trial that gave no result, in place of an older one of the same trial."""
    if (draft / RAW).is_file():
        (run / FAILED).mkdir(exist_ok=True)
        write_whole(run / FAILED / f"{trial}.log.zst", _compressed((draft / RAW).read_bytes()))


def forget_failed_log(run: Path, trial: str) -> None:
    """Remove the log of a failure, once the trial has a result."""
    (run / FAILED / f"{trial}.log.zst").unlink(missing_ok=True)


def read_log(run: Path, trial: str) -> str:
    """Return the log of a trial, with a result or without; UserError where none is stored."""
    if not trial or "/" in trial or trial.startswith("."):
        raise field_error(COMMAND_LINE, "trial", trial, "a trial's name, such as cubic-001")
    for file in (run / FAILED / f"{trial}.log.zst", run / "trials" / trial / STORED):
        if file.exists():
            return printed(file)
    failed = {file.name.split(".")[0] for file in (run / FAILED).glob("*.log.zst")}
    names = sorted(failed | {file.parent.name for file in (run / "trials").glob(f"[!.]*/{STORED}")})
    raise field_error(run, "trial", trial, f"one with a stored log: {suggested(trial, names) or 'none is stored'}")


def _compressed(content: bytes) -> bytes:
    return bytes(pa.compress(content, codec="zstd", asbytes=True))


def printed(file: Path) -> str:
    """Return a stored log, whose last line says where it is cut; UserError where it is none."""
    try:
        with pa.CompressedInputStream(io.BytesIO(read_plain(file, MOST_BYTES)), "zstd") as stream:
            text = str(stream.read_buffer(MOST_BYTES).to_pybytes().decode(errors="replace"))
            return text + f"\n(cut after {MOST_BYTES} bytes: 'zstd -dc {file}' shows all)\n" * bool(stream.read(1))
    except (OSError, pa.ArrowException):
        raise UserError(f"{file}: must be a whole zstd file") from None
