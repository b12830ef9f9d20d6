# SPDX-License-Identifier: GPL-2.0-or-later
"""Islands and finds of strangers: what they name and hold is refused in one line before anything is written."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lab_break.islands import FILE, merge
from lab_break.numbers import Store, crashed
from lab_break.repeat import whole_find
from lab_break.request import FOLDER, TRIALS

from lab.base.console import PlainConsole
from lab.base.errors import UserError
from lab.runs import shard
from lab.runs.shard import Shard
from tests.hostile.samples import documents

DIGEST = "0123456789abcdef"


def island(folder: Path, number: int) -> Path:
    """Store an island of two, with one trial."""
    Store(folder / FOLDER / TRIALS).write(DIGEST, crashed("a reason"))
    content = {"request": documents("find.json")[0]["request"], "lab_version": "1", "kernel": {}, "trials": 1}
    (folder / FILE).write_text(json.dumps(content))
    shard.write(folder, Shard(number, 2), {}, ["lab", "break"], "break")
    return folder


@pytest.fixture
def islands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    return [island(tmp_path / name, number) for name, number in (("one", 1), ("two", 2))]


def merged(islands: list[Path]) -> None:
    merge({folder: shard.read(folder) for folder in islands}, PlainConsole(file=io.StringIO()))


def test_islands_are_merged(islands: list[Path], tmp_path: Path) -> None:
    merged(islands)
    assert [file.name for file in (tmp_path / "results").rglob("*.json")] == [f"{DIGEST}.json"]


@pytest.mark.parametrize("name", ["..x", "01<script>", "01", "01\n"])
def test_a_trial_that_is_not_named_by_a_digest_is_not_taken(islands: list[Path], tmp_path: Path, name: str) -> None:
    trials = islands[1] / FOLDER / TRIALS
    outside = Store(trials).file(name)
    for file in (outside, trials / "01" / f"{name}.json"):
        file.write_bytes(Store(trials).file(DIGEST).read_bytes())
    Store(trials).file(DIGEST).unlink()
    with pytest.raises(UserError, match=r"name=.*: must be the digest of a trial$"):
        merged(islands)
    assert not (tmp_path / "results").exists()


def test_a_request_with_another_field_is_of_another_search(islands: list[Path]) -> None:
    content = json.loads((islands[1] / FILE).read_text())
    content["request"]["more"] = 1
    (islands[1] / FILE).write_text(json.dumps(content))
    with pytest.raises(UserError, match=r"island\.json: request\.more=1: must be absent, as in "):
        merged(islands)


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "rivals": (lambda find: find["request"].update(rivals=5), r"request\.rivals=5: must be "),
    "seed": (lambda find: find["request"].update(seed=-1), r"seed=-1: must be 0 to "),
    "parameter": (lambda find: find["point"].pop("rate_mbps"), r"point\.rate_mbps=: must be given, as "),
    "text": (lambda find: find["point"].update(delay_ms="x"), r"point\.delay_ms=x: must be given, as "),
    "rate": (lambda find: find["point"].update(rate_mbps=1e6), r"down\.rate_mbps=1000000\.0: must be "),
    "trials": (lambda find: find["trials"].clear(), r"trials=: must be those of search, "),
}


@pytest.mark.parametrize(("change", "line"), CHANGES.values(), ids=CHANGES)
def test_a_find_that_is_none_is_refused(tmp_path: Path, change: Callable[[dict[str, Any]], Any], line: str) -> None:
    (find,) = documents("find.json")
    file = tmp_path / "find.json"
    file.write_text(json.dumps(find))
    assert whole_find("search", file)[0] == find
    change(find)
    file.write_text(json.dumps(find))
    with pytest.raises(UserError, match=line):
        whole_find("search", file)
