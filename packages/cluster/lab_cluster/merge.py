# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab merge`: the runs of all shards of a request become one run each, as if one machine had run them.

Everything is checked before anything is written, and what is written is new: no stored run or shard changes.
"""

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.base import paths
from lab.base.errors import MOST_VALUE_CHARS, UserError, field_error
from lab.base.plain_text import cut, escaped, shown
from lab.base.workers import each_in_processes
from lab.runs import run_folder
from lab.runs.experiment import trial_part
from lab.runs.shard import FILE, Shard, ShardJson, owners_of, read
from lab.runs.trial import new_draft
from lab.tables.digests import SUMS, write_with_digest
from lab.tables.run_json import RunJson
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from lab.tables.trial_tables import TRIAL_TABLES
from lab.tables.values_digest import digest

A_PROCESS = 200  # trials, below which another process costs more than it saves
PARTS = ("digests", "kernel", "scenario", "profile", "topology", "sysctls")
KERNEL = ("kernel_digest", "modules_digest")
WHOLE = ("lab_version", "backend", "engine", "shaper", "seeds", "rival", "rivals")
Shards = Mapping[Path, ShardJson]
Trials = Mapping[str, list[Path]]  # the folders that hold a trial, by its name


def merge(shards: Shards) -> list[Path]:
    """Return the new runs."""
    names = next(iter(shards.values()))["runs"]
    runs = {name: [Run(folder / name / shard["runs"][name]) for folder, shard in shards.items()] for name in names}
    for parts in runs.values():
        _require_one_request(parts)
    owners = owners_of(
        ((name, parts[0].scenario["ccas"], len(parts[0].meta["seeds"])) for name, parts in runs.items()), _count(shards)
    )
    found = {name: _trials(name, parts, owners, shards) for name, parts in runs.items()}
    return [_written(runs[name], trials) for name, trials in found.items()]


def _count(shards: Shards) -> int:
    return Shard.of(next(iter(shards.values()))["shard"]).count


def shards_of(folders: Sequence[Path]) -> Shards:
    """Read all shards; UserError where one is of another request, or missing."""
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise UserError("lab merge: folders: must be given once each")
    shards = {folder: read(folder) for folder in folders}
    first = next(iter(shards))
    count = _count(shards)
    for folder, shard in shards.items():
        if Shard.of(shard["shard"]).count != count:
            raise field_error(folder / FILE, "shard", shard["shard"], f"one of {count}, as in {first}")
        if shard.get("kind") != shards[first].get("kind"):
            raise field_error(folder / FILE, "kind", shard.get("kind", "runs"), f"that of {first}: the same request")
        if list(shard["runs"]) != list(shards[first]["runs"]):
            raise field_error(folder / FILE, "runs", ", ".join(shard["runs"]), f"those of {first}: the same request")
    there = {Shard.of(shard["shard"]).number for shard in shards.values()}
    if missing := [f"{number}/{count}" for number in range(1, count + 1) if number not in there]:
        line = f"missing shard {', '.join(missing)}: run the same command with --shard {missing[0]}"
        raise UserError(f"lab merge: {line}")
    return shards


def _facts(meta: RunJson) -> dict[str, object]:
    """Return what shards of a request share: the parts, too, as a digest is only what run.json states of them."""
    kernel, scenario = {name: meta["kernel"].get(name) for name in KERNEL}, trial_part(meta["scenario"])
    stated: Mapping[str, Any] = {**meta, "kernel": kernel, "scenario": scenario}
    return {
        **{f"{part}.{name}": value for part in PARTS for name, value in stated[part].items()},
        **{f"ccas.{cca['name']}.{name}": value for cca in meta["ccas"] for name, value in cca.items()},
        **{name: stated.get(name) for name in WHOLE},
        "world": meta["world"]["digest"],
    }


def _require_one_request(runs: Sequence[Run]) -> None:
    expected = _facts(runs[0].meta)
    for run in runs[1:]:
        found = _facts(run.meta)
        for name in expected | found:
            here, there = found.get(name, "absent"), expected.get(name, "absent")
            if here != there:
                rule = f"{cut(escaped(shown(there)), MOST_VALUE_CHARS)}, as in {runs[0].path}"
                raise field_error(run.path, name, here, rule)


def _trials(name: str, runs: Sequence[Run], owners: Mapping[tuple[str, str], int], shards: Shards) -> Trials:
    """Return the folders of each trial of a run; UserError names one that is missing, damaged, or not the same."""
    wanted = [trial for run, trial in owners if run == name]
    held = [(run.path / "trials", {folder.name for folder in (run.path / "trials").glob("[!.]*")}) for run in runs]
    found = {trial: [folder / trial for folder, names in held if trial in names] for trial in wanted}
    for trial, places in found.items():
        if not places:
            shard = f"{owners[name, trial]}/{_count(shards)}"
            at = next(folder for folder, each in shards.items() if each["shard"] == shard)
            raise UserError(f"{at}: {name}/{trial}: must be stored: run shard {shard} again, with the same --out")
    places = [place for each in found.values() for place in each]
    for fault in each_in_processes(_fault_of, places, per_process=A_PROCESS):
        if fault:
            raise UserError(f"{fault}: run its shard again, with the same --out")
    for place in places:
        _require_plain_files(place)
    for each in found.values():
        for other in each[1:]:
            _require_same(each[0], other)
    return found


def _require_plain_files(folder: Path) -> None:
    """Refuse a folder of a stranger that holds anything but plain files: a copy would follow its links."""
    with os.scandir(folder) as found:
        for entry in found:
            if not entry.is_file(follow_symlinks=False):
                raise UserError(f"{entry.path}: must be a plain file, no folder, link or pipe")


def _fault_of(place: Path) -> str | None:
    return Run(place.parents[1]).fault_of(Trial(place))


def _require_same(first: Path, other: Path) -> None:
    """Refuse a trial of two shards that differs: its first packet that does, else its table."""
    one, two = Trial(first), Trial(other)
    tables = [name for name in TRIAL_TABLES if digest(one.table(name)) != digest(two.table(name))]
    if "packets" in tables:
        rows = enumerate(zip(one.packets.iter_rows(), two.packets.iter_rows(), strict=False), 1)
        end = min(one.packets.height, two.packets.height) + 1
        number = next((place for place, (here, there) in rows if here != there), end)
        raise UserError(f"{other}: packet {number}: must be the same as in {first}")
    if tables:
        raise UserError(f"{other / tables[0]}.parquet: must be the same as in {first}")


def _written(runs: Sequence[Run], trials: Trials) -> Path:
    wall_s = sum(run.meta.get("wall_s", 0.0) for run in runs)
    folder = _new_run(runs[0])
    with run_folder.locked(folder):
        for source, *_ in trials.values():
            _copy(source, folder / "trials" / source.name)
        run_folder.close(folder, wall_s, complete=True)
    return folder


def _new_run(part: Run) -> Path:
    """Create the folder of a run whose trials other machines ran; its run.json is that of one part."""
    path = run_folder.new_folder(paths.results() / part.meta["name"])
    meta = {**part.meta, "complete": False, "command": sys.argv, "wall_s": 0.0}
    write_with_digest(path / "run.json", json.dumps(meta, indent=1).encode())
    return path


def _copy(source: Path, target: Path) -> None:
    """Link a trial's files that have a digest, which no command changes; copy them from another disk."""
    with new_draft(target) as draft:
        try:
            for name in (SUMS, *Trial(source).digests):
                _link_or_copy(source / name, draft / name)
        except OSError as error:
            raise UserError(f"{target}: {error.strerror}") from None
        draft.replace(target)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
