# SPDX-License-Identifier: GPL-2.0-or-later
"""What a stranger's run claims: it counts as far as its tables show it, and what contradicts itself is refused."""

import gzip
import hashlib
import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lab.base import seal
from lab.judge.judged import OUTCOMES, judged
from lab.report.browser.pack import KEPT, browsed
from lab.tables.stored_run import Run
from tests.unit.test_digests import edit, lines, run

__all__ = ["run"]  # a fixture
TRIAL = Path("trials") / "search-001"


def forge(file: Path, content: bytes) -> None:
    """Write a file with what a stranger can write beside it: no key of this user."""
    file.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    file.with_name(f"{file.name}.sha256").write_text(f"{digest}  {file.name}\n")
    file.with_name(f"{file.name}.seal").write_text(digest)


def test_how_a_stranger_has_judged_a_trial_counts_nothing(run: Path) -> None:
    right = judged(Run(run)).outcomes
    forged = pl.read_parquet(run / OUTCOMES).with_columns(exit_class=pl.lit("late"), exit_s=pl.lit(99.0))
    sink = io.BytesIO()
    forged.write_parquet(sink)
    forge(run / OUTCOMES, sink.getvalue())
    assert judged(Run(run)).outcomes.equals(right)


def test_what_a_stranger_has_packed_for_the_browser_is_on_no_page(run: Path) -> None:
    outcomes = judged(Run(run)).outcomes
    right = browsed([(Run(run), outcomes, "x")])
    forge(run / TRIAL / KEPT, gzip.compress(b'{"edges": [], "series": {}}'))
    assert browsed([(Run(run), outcomes, "x")]) == right
    assert browsed([(Run(run), outcomes, "x")]) == right  # that of this user was kept


def test_what_this_user_keeps_counts_only_as_it_was_written_and_about_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "own"))
    file = tmp_path / "kept"
    seal.keep(file, b"content", "about")
    assert seal.kept(file, 100, "about") == b"content"
    assert seal.kept(file, 100, "other") is None
    assert seal.kept(file, 5, "about") is None
    file.write_bytes(b"changed")
    assert seal.kept(file, 100, "about") is None


def test_what_another_user_has_sealed_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for cache in ("theirs", "own"):
        monkeypatch.setenv("LAB_CACHE", str(tmp_path / cache))
        assert seal.kept(tmp_path / "kept", 100) is None
        seal.keep(tmp_path / "kept", b"content")
    key = tmp_path / "own" / "reports" / "seal"
    assert key.stat().st_mode & 0o77 == 0
    assert len((key / seal.KEY).read_bytes()) == seal.KEY_BYTES


@pytest.fixture
def odd_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file system without hard links, and a cache in what is no folder; where temporary files go."""
    (tmp_path / "file").touch()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(os, "link", lambda *_, **__: os.close(-1))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "file" / "cache"))
    return tmp_path / "temporary"


def counts_for_the_next_command(file: Path) -> bool:
    seal._key.cache_clear()
    seal.keep(file, b"content")
    seal._key.cache_clear()
    return seal.kept(file, 100) is not None


@pytest.mark.parametrize("cache", ["cache", "file/cache"])
def test_what_is_kept_counts_for_the_next_command_without_hard_links_and_without_a_cache(
    odd_place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: str
) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / cache))
    assert counts_for_the_next_command(tmp_path / "kept")
    assert counts_for_the_next_command(tmp_path / "kept")
    assert len(list(odd_place.iterdir())) == (cache != "cache")


def test_a_key_that_others_can_read_or_have_linked_counts_for_one_command_only(odd_place: Path, tmp_path: Path) -> None:
    assert counts_for_the_next_command(tmp_path / "kept")
    (key,) = odd_place.iterdir()
    key.chmod(0o755)
    assert not counts_for_the_next_command(tmp_path / "kept")
    key.chmod(0o700)
    assert counts_for_the_next_command(tmp_path / "kept")
    key.rename(tmp_path / "theirs")
    key.symlink_to(tmp_path / "theirs")
    assert not counts_for_the_next_command(tmp_path / "kept")


def failed(meta: dict[str, Any]) -> None:
    meta["certificate"]["checks"][0]["ok"] = False


def two_rivals(meta: dict[str, Any]) -> None:
    meta["flows"] += [meta["flows"][0] | {"flow": 2}, meta["flows"][0] | {"flow": 2}]


def one_rival(meta: dict[str, Any]) -> None:
    meta["flows"] += [meta["flows"][0] | {"flow": 2, "cca": "bbr"}]


@pytest.mark.parametrize(
    ("edited", "rule"),
    [
        (failed, "certificate.valid=True: must be false where a check is not passed, or there is none"),
        (lambda meta: meta["certificate"].update(checks=[]), "certificate.valid=True: must be false where a check"),
        (two_rivals, "flows=1, 2, 2: must be flow 1, then the others in their order"),
        (lambda meta: meta.update(flows=[]), "flows=: must be flow 1, then"),
        (lambda meta: meta["flows"][0].update(cca="bbr"), "flows[0].cca=bbr: must be search, whose trial this is"),
        (one_rival, "rivals=bbr: must be none, as in run.json"),
        (lambda meta: meta.update(backend="host"), "backend=host: must be virtual, as in run.json"),
        (lambda meta: meta.update(shaper="netem"), "shaper=netem: must be replay, as in run.json"),
        (lambda meta: meta.update(profile="leo"), "profile=leo: must be geo-small, as in run.json"),
        (lambda meta: meta.update(duration_s=90), "duration_s=90: must be 2, as in run.json"),
    ],
)
def test_a_trial_that_contradicts_itself_or_its_run_is_refused(
    run: Path, edited: Callable[[dict[str, Any]], None], rule: str
) -> None:
    edit(run / TRIAL / "trial.json", edited, signed=True)
    (line,) = lines(run)
    assert f"trial.json: {rule}" in line


def claims_alone(meta: dict[str, Any]) -> None:
    claim = {"source": "thesis, table 5.3", "row": "SEARCH", "cca": "search", "values": {"exit_s": 1.0}}
    meta["scenario"].update(claims=[claim])
    del meta["scenario"]["tolerance"]


def with_scenario(**changes: object) -> Callable[[dict[str, Any]], None]:
    return lambda meta: meta["scenario"].update(changes)


@pytest.mark.parametrize(
    ("edited", "rule"),
    [
        (claims_alone, "scenario.tolerance=: must be given where there are claims"),
        (with_scenario(trials=7), "seeds=1 numbers: must be as many as there are trials: 7"),
        (with_scenario(ccas=["search", "bbr"]), "ccas=search: must be those of the scenario, each once: search, bbr"),
        (with_scenario(ccas=["search", "search"]), "ccas=search: must be those of the scenario, each once"),
        (lambda meta: meta.update(seeds=[]), "seeds=0 numbers: must be as many as there are trials: 1"),
        (lambda meta: meta.update(seeds=[5]), "trial.json: seed=369571992: must be 5, as in run.json"),
    ],
)
def test_a_run_that_belies_itself_is_refused(run: Path, edited: Callable[[dict[str, Any]], None], rule: str) -> None:
    edit(run / "run.json", edited, signed=True)
    (line,) = lines(run)
    assert rule in line


@pytest.mark.parametrize("number", [0, 2])
def test_a_trial_of_another_number_than_the_run_has_is_refused(run: Path, number: int) -> None:
    edit(run / TRIAL / "trial.json", lambda meta: meta.update(trial=number), signed=True)
    (run / TRIAL).rename(run / "trials" / f"search-{number:03d}")
    (line,) = lines(run)
    assert f"trial.json: trial={number}: must be from 1 to 1, as run.json has seeds" in line


def test_a_small_run_that_states_more_trials_than_can_be_named_is_refused(run: Path) -> None:
    def endless(meta: dict[str, Any]) -> None:
        del meta["scenario"]["trials"]
        meta["seeds"] = [1] * 1_000_001

    edit(run / "run.json", endless, signed=True)
    (line,) = lines(run)
    assert line.endswith("seeds=1000001 numbers: must be at most 1000000 trials of all senders")


def test_two_senders_of_one_label_are_refused_as_a_sentence_would_name_one_of_them(run: Path) -> None:
    def alike(meta: dict[str, Any]) -> None:
        (first,) = meta["ccas"]
        meta["ccas"] = [first | {"label": "SEARCH"}, first | {"label": "SEARCH", "name": "other"}]
        meta["scenario"]["ccas"] = ["search", "other"]

    edit(run / "run.json", alike, signed=True)
    (line,) = lines(run)
    assert line.endswith("run.json: ccas.label=SEARCH: must be of one sender")
