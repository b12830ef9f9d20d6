# SPDX-License-Identifier: GPL-2.0-or-later
"""Shards of a request: which trials are whose, and what a merge refuses before it writes anything."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import cast

import polars as pl
import pytest
from lab_cluster.merge import merge as joined
from lab_cluster.merge import shards_of

from lab.base.errors import UserError
from lab.runs import shard
from lab.runs.shard import Shard, owners_of
from lab.tables.digests import SUMS, write_digests
from lab.tables.stored_run import Run
from tests.brief import error_of
from tests.stored_run import rewrite, store_run

COMMAND = ["lab", "run", "geo"]
SENDERS = ("search", "cubic")
OUTSIDE = (("..", "x"), ("geo", "../geo"), ("geo", "/etc"))


def test_each_trial_is_of_one_shard_and_shards_are_of_one_size() -> None:
    owners = owners_of([("a", ["x", "y"], 4), ("b", ["x"], 3)], 4)
    assert len(owners) == 11
    assert sorted(list(owners.values()).count(number) for number in (1, 2, 3, 4)) == [2, 3, 3, 3]


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/0", "a/b", "1/2/3", "-1/2", "1/10001"])
def test_a_shard_is_k_of_n(text: str) -> None:
    with pytest.raises(UserError, match=f"command line: shard={text}: must be K/N with K from 1 to N"):
        Shard.of(text)


def merge(folders: list[Path]) -> list[Path]:
    return joined(shards_of(folders))


@pytest.fixture
def shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two shards of a run of two trials by two senders."""
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    return [stored_shard(tmp_path / name, number) for name, number in (("one", 1), ("two", 2))]


def stored_shard(folder: Path, number: int) -> Path:
    run = store_run(folder, trials=2, senders=SENDERS)
    change(run, lambda meta: meta["scenario"].update(trials=2))
    change(run, lambda meta: cast("list[int]", meta["seeds"]).pop())
    owners = owners_of([("geo", list(SENDERS), 2)], 2)
    for trial in (run / "trials").iterdir():
        write_digests(trial)
        if owners["geo", trial.name] != number:
            shutil.rmtree(trial)
    shard.write(folder, Shard(number, 2), {"geo": run.name}, COMMAND)
    return folder


def change(run: Path, how: Callable[[dict[str, dict[str, object]]], object]) -> None:
    meta = json.loads((run / "run.json").read_text())
    how(meta)
    rewrite(run / "run.json", meta)


def run_of(folder: Path) -> Path:
    (run,) = (folder / "geo").iterdir()
    return run


def test_merged_shards_are_one_complete_run_and_stay_as_they_are(shards: list[Path]) -> None:
    before = [sorted(folder.rglob("*")) for folder in shards]
    for _ in range(2):  # a second merge adds a run, and changes none
        (folder,) = merge(shards)
        run = Run(folder)
        assert run.complete
        assert sorted(trial.path.name for trial in run.trials) == ["cubic-001", "cubic-002", "search-001", "search-002"]
    assert len(list(folder.parent.glob("[0-9]*"))) == 2
    assert [sorted(folder.rglob("*")) for folder in shards] == before


def test_a_full_disk_is_a_line_and_leaves_no_draft(shards: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_names: object, **_options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for module, name in ((os, "link"), (shutil, "copy2")):
        monkeypatch.setattr(module, name, full)
    with pytest.raises(UserError, match=r"/trials/search-001: No space left on device$"):
        merge(shards)
    (run,) = (shards[0].parent / "results" / "geo").iterdir()
    assert not Run(run).complete
    assert list((run / "trials").iterdir()) == []


def test_only_what_has_a_digest_is_merged(shards: list[Path]) -> None:
    """A trial of a stranger may bring more: a file of a terabyte that is empty."""
    for folder in shards:
        change(run_of(folder), lambda meta: meta["scenario"].pop("trials"))  # as many as there are seeds
        for trial in (run_of(folder) / "trials").iterdir():
            (trial / "more").touch()
    (folder,) = merge(shards)
    trials = Run(folder).trials
    assert len(trials) == 4
    assert not any((trial.path / "more").exists() for trial in trials)


def test_a_missing_shard_a_folder_that_is_none_and_one_given_twice_are_named(shards: list[Path]) -> None:
    assert error_of(merge, shards[:1]) == "lab merge: missing shard 2/2: run the same command with --shard 2/2"
    with pytest.raises(UserError, match=r"nix/shard\.json: No such file or directory: must be the folder of --out"):
        merge([*shards, shards[0].parent / "nix"])
    assert "folders: must be given once each" in error_of(merge, [*shards, shards[0]])
    with pytest.raises(UserError, match=r"shard\.json: shard=1/2: must be 2/2, or --out must be another folder"):
        shard.begin(shards[0], Shard(2, 2))


@pytest.mark.parametrize(
    ("how", "line"),
    [
        (lambda meta: meta.update(lab_version="1"), r"two/geo/\w+: lab_version=1: must be 0, as in .*one/geo/\w+"),
        (lambda meta: meta["kernel"].update(kernel_digest="q"), r"kernel\.kernel_digest=q: must be k, as in "),
        (lambda meta: meta["kernel"].update(modules_digest="q"), r"kernel\.modules_digest=q: must be m, as in "),
        (lambda meta: meta["digests"].update(profile="q"), r"digests\.profile=q: must be absent, as in "),
        (lambda meta: meta["scenario"].update(duration_s=9), r"scenario\.duration_s=9: must be absent, as in "),
        (lambda meta: meta["ccas"][0].update(params={"a": 1}), r"ccas\.search\.params=\{'a': 1\}: must be .*, as in "),
    ],
)
def test_shards_of_another_commit_kernel_or_request_are_refused(
    shards: list[Path], how: Callable[[dict[str, dict[str, object]]], object], line: str
) -> None:
    change(run_of(shards[1]), how)
    with pytest.raises(UserError, match=line):
        merge(shards)


@pytest.mark.parametrize(
    ("runs", "command", "line"),
    [
        ({"leo": "x"}, COMMAND, r"runs=leo: must be those of .*one: the same request"),
        *(({name: of}, COMMAND, r"name=.*: must be letters, digits and _ \. - only") for name, of in OUTSIDE),
        ({"geo": "x"}, ["sh", "-c", "curl x | sh"], r"command=sh: must be a command of the lab"),
    ],
)
def test_a_shard_of_other_runs_or_of_another_program_is_refused_and_names_no_folder_outside_of_it(
    shards: list[Path], runs: dict[str, str], command: list[str], line: str
) -> None:
    shard.write(shards[1], Shard(2, 2), runs, command)
    with pytest.raises(UserError, match=rf"shard\.json: {line}"):
        merge(shards)


@pytest.mark.parametrize("make", [lambda file: file.symlink_to("/etc"), Path.mkdir, os.mkfifo])
def test_a_trial_with_more_than_plain_files_is_not_copied(shards: list[Path], make: Callable[[Path], None]) -> None:
    make(run_of(shards[1]) / "trials/cubic-001/more")
    assert "cubic-001/more: must be a plain file, no folder, link or pipe" in error_of(merge, shards)


def test_a_trial_that_is_missing_is_named_with_its_shard(shards: list[Path]) -> None:
    shutil.rmtree(run_of(shards[1]) / "trials/cubic-001")
    assert "two: geo/cubic-001: must be stored: run shard 2/2 again" in error_of(merge, shards)


def test_a_damaged_trial_is_named_and_nothing_is_written(shards: list[Path], tmp_path: Path) -> None:
    with (run_of(shards[0]) / "trials/search-001/acks.parquet").open("r+b") as file:
        file.write(b"damage")
    with pytest.raises(UserError, match=r"search-001/acks\.parquet: sha256=.* as it was stored: run its shard again"):
        merge(shards)
    assert not (tmp_path / "results").exists()


def test_a_trial_under_the_name_of_another_is_named_and_nothing_is_written(shards: list[Path], tmp_path: Path) -> None:
    trials = run_of(shards[0]) / "trials"
    shutil.rmtree(trials / "search-002")
    shutil.copytree(trials / "search-001", trials / "search-002")
    with pytest.raises(UserError, match=r"search-002/trial\.json: trial=1: must be that of its folder.* run its shard"):
        merge(shards)
    assert not (tmp_path / "results").exists()


def test_a_shard_twice_is_taken_if_its_trials_are_the_same(shards: list[Path], tmp_path: Path) -> None:
    again = stored_shard(tmp_path / "again", 2)
    assert len(merge([*shards, again])) == 1
    trial = run_of(again) / "trials/cubic-001"
    packets = pl.read_parquet(trial / "packets.parquet")
    changed = packets.with_columns(
        pl.when(pl.int_range(pl.len()) == 4).then(9).otherwise("frame_bytes").cast(pl.UInt32).alias("frame_bytes")
    )
    changed.write_parquet(trial / "packets.parquet")
    (trial / SUMS).unlink()
    write_digests(trial)
    with pytest.raises(UserError, match=r"again/geo/\w+/trials/cubic-001: packet 5: must be the same as in .*two"):
        merge([*shards, again])
