# SPDX-License-Identifier: GPL-2.0-or-later
"""Which sandbox a virtual kernel runs in: bubblewrap where it works, else none but Landlock. LAB_SANDBOX decides."""

import os
from functools import cache

from lab.base import landlock, sandbox
from lab.base.errors import field_error

VARIABLE = "LAB_SANDBOX"
BUBBLEWRAP, NONE = "bubblewrap", "none"
MODES = (BUBBLEWRAP, NONE)
LANDLOCKED = f"{NONE}, with Landlock"


def mode() -> str:
    """Return one of MODES: what LAB_SANDBOX requests, else bubblewrap where it works on this machine."""
    requested = os.environ.get(VARIABLE)
    if not requested:
        return BUBBLEWRAP if why_no_bubblewrap() is None else NONE
    if requested not in MODES:
        raise field_error("environment", VARIABLE, requested, " or ".join(MODES))
    if requested == BUBBLEWRAP:
        sandbox.require()
    return requested


@cache
def why_no_bubblewrap() -> str | None:
    """Return why bubblewrap does not work here, or None; it is tried once per process."""
    return sandbox.why_not()


def described() -> str:
    """Return the mode as run.json and trial.json record it."""
    if mode() == BUBBLEWRAP:
        return BUBBLEWRAP
    return LANDLOCKED if landlock.abi() else NONE


def less() -> str | None:
    """Return in one line what a run without bubblewrap protects less; None with bubblewrap."""
    found = described()
    if found == BUBBLEWRAP:
        return None
    if found == LANDLOCKED:
        signals = "" if landlock.abi() >= landlock.SIGNALS_SINCE else ", and can signal them"
        rest = f"Landlock (ABI {landlock.abi()}) keeps it to its trial's folder; it sees your processes{signals}"
    else:
        rest = "and the host has no Landlock: run no topology and no module of a stranger"
    reason = "as LAB_SANDBOX requests" if os.environ.get(VARIABLE) else f"since {why_no_bubblewrap()}"
    return f"sandbox none, {reason}: the kernel under test runs without bubblewrap; {rest}"
