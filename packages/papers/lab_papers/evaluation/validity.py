# SPDX-License-Identifier: GPL-2.0-or-later
"""Why a run counts for nothing: the check of the certificate that most of its trials failed."""

from collections.abc import Sequence
from itertools import chain

from lab.tables.stored_trial import Trial
from lab.tables.trial_json import Check


def why_invalid(trials: Sequence[Trial]) -> str | None:
    """Return a line that names the check which most trials failed; null where a trial is valid, or none is stored."""
    if not trials or any(trial.valid for trial in trials):
        return None
    failed: dict[str, list[Check]] = {}
    for check in chain.from_iterable(trial.meta["certificate"]["checks"] for trial in trials):
        if not check["ok"]:
            failed.setdefault(check["name"], []).append(check)
    worst = max(failed.values(), key=len, default=[])
    return f"none of its {len(trials)} trials is valid{_words(worst)}"


def _words(failed: Sequence[Check]) -> str:
    if not failed:
        return ""
    first = failed[0]
    found = sorted({f"{check['got']:.3g}" for check in failed if check["got"] is not None}, key=float)
    measured = " to ".join(dict.fromkeys((found[0], found[-1]))) if found else "not measured"
    rule = f"must be {first['asked']}" + (f" \N{PLUS-MINUS SIGN} {first['tolerance']:g}" if first["tolerance"] else "")
    return f": {first['name']}, in {len(failed)} trials: {measured} {first['unit']}, {rule}"
