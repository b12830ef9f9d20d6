# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials that an earlier run of the same link has already: they are linked into a new run instead of run again.

A trial depends on its sender, its link, its number, the kernel, the modules and the lab's version, and on no other
sender of its run. In virtual time it would come out the same, bit for bit.
"""

import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

from lab.backends.backend import Site
from lab.base.errors import UserError
from lab.runs.experiment import Experiment, digest, specification, trial_part
from lab.runs.run_folder import lab_version
from lab.schema.cca import Stanza
from lab.senders.traced import CAPTURED
from lab.tables.run_json import Requested, RunJson
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial

OF_ITS_SENDERS = ("ccas", "trials", "question")  # fields of a scenario that decide no trial of one sender
PARTS = ("profile", "recordings", "topology", "sysctls", "rival", "rivals")


def reuse(experiment: Experiment, folder: Path, site: Site, keep_capture: bool) -> int:
    """Link what earlier runs have into a run's folder; returns the number of trials."""
    if site.backend.kind != "virtual":  # in real time no two trials are alike
        return 0
    count = 0
    for run in _earlier(experiment, folder, site):
        senders = {stanza["name"]: _given(stanza) for stanza in run.meta["ccas"]}
        for name, cca in experiment.ccas.items():
            if senders.get(name) == _given(cca.model_dump()):
                trials = (f"{name}-{number:03d}" for number in range(1, experiment.scenario.trials + 1))
                count += sum(_link(run.path / "trials" / trial, folder, keep_capture) for trial in trials)
    return count


def _earlier(experiment: Experiment, folder: Path, site: Site) -> Iterator[Run]:
    """Yield the other runs of the same link on the same kernel, the newest first."""
    wanted = _link_part(specification(experiment))
    for file in sorted(folder.parent.glob("[0-9]*/run.json"), reverse=True):
        run = Run(file.parent)
        try:
            if run.path != folder and _link_part(run.meta) == wanted and _same_code(run, site):
                yield run
        except UserError:  # a damaged run
            continue


def _given(stanza: Stanza) -> str:
    """Digest what a stanza states: a field without a value is none, as where an older lab did not know the field."""
    return digest({name: value for name, value in stanza.items() if value is not None})


def _link_part(meta: Requested | RunJson) -> dict[str, str | None]:
    scenario = {key: value for key, value in trial_part(meta["scenario"]).items() if key not in OF_ITS_SENDERS}
    return {"scenario": digest(scenario)} | {part: meta["digests"].get(part) for part in PARTS}


def _same_code(run: Run, site: Site) -> bool:
    now = site.description.kernel
    same = all(run.meta["kernel"].get(name) == now[name] for name in ("kernel_digest", "modules_digest"))
    same &= run.meta["lab_version"] == lab_version()  # which decides certificates, too
    place = (run.meta["backend"], run.meta["engine"]) == (site.backend.kind, site.backend.engine)
    return same and place and run.meta["world"]["digest"] == site.description.packages_digest


def _link(source: Path, folder: Path, keep_capture: bool) -> bool:
    """Link a trial's files into a draft, and publish it; returns whether it is new there."""
    target = folder / "trials" / source.name
    if target.exists() or not source.is_dir() or not Trial(source).is_whole:
        return False
    if keep_capture and not (source / f"{CAPTURED}.zst").exists():
        return False
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.draft")
    try:
        shutil.copytree(source, draft, copy_function=os.link, symlinks=True)
        draft.replace(target)
    except OSError:  # a disk that links nothing: the trial is run again
        shutil.rmtree(draft, ignore_errors=True)
        return False
    return True
