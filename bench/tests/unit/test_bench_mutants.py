# SPDX-License-Identifier: GPL-2.0-or-later
"""The small changes of `make mutants`: what is changed and what is not, which tests concern it, and what is listed."""

import ast
import tomllib
from pathlib import Path

import pytest
import scipy

from bench.mutants import changes, faults, kernel, rooms, survivors
from bench.mutants.concern import LIMIT_S, Concern
from bench.mutants.rooms import Tally
from lab.base.paths import REPO


def differences(tmp_path: Path, source: str) -> set[str]:
    """Return what the last line of a file becomes in each of its changes."""
    file = tmp_path / "file.py"
    file.write_text(source)
    found = changes.of_file(file, "file.py")
    for change in found:
        ast.parse(change.source)
    return {change.source.splitlines()[-1].strip() for change in found}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("if a < b: c()", {"if a <= b: c()", "if a < b: None"}),
        ("if a: return", {"if not a: return"}),
        ("return a * 8", {"return a / 8", "return a * 9"}),
        ("return a / 1e6", {"return a * 1e6", "return a / 2000000.0"}),
        ("return a.sort(b)", {"return a", "return a.sort(None)"}),
        ("return min(a)", {"return max(a)", "return min(None)"}),
        ("return a and b", {"return a or b"}),
        ("return f(a=True)", {"return f(a=False)", "return f()"}.difference({"return f()"})),
        ("return f(a=1, b=2)", {f"return f({rest})" for rest in ("a=None, b=2", "a=1, b=None", "b=2", "a=1, ")}
         | {"return f(a=2, b=2)", "return f(a=1, b=3)"}),
        ("return run(check=False, b=c)", {"return run(check=True, b=c)", "return run(check=False, b=None)",
                                          "return run(check=False, )"}),
    ],
)  # fmt: skip
def test_what_decides_a_result_is_changed(tmp_path: Path, line: str, expected: set[str]) -> None:
    assert differences(tmp_path, f"def f():\n    {line}\n") == expected


@pytest.mark.parametrize(
    "line",
    [
        'raise UserError(f"{a + 1} is wrong")',
        'return "a text"',
        "assert a > 1",
        "return len(a)",
        'return f"{a + 1}"',
        "a: Literal[1]",
        "from a import b",
    ],
)
def test_texts_types_and_checks_are_left_alone(tmp_path: Path, line: str) -> None:
    assert differences(tmp_path, f"def f():\n    {line}\n") == set()


def test_a_decorator_is_left_alone_and_what_it_decorates_is_not(tmp_path: Path) -> None:
    file = tmp_path / "file.py"
    file.write_text("class A:\n    @cache(1)\n    def b(self):\n        return 2\n\n\nC = 3\n")
    found = [(change.function, change.lines.start, change.difference) for change in changes.of_file(file, "file.py")]
    assert found == [("A.b", 4, "return 2 -> return 3"), ("", 7, "C = 3 -> C = None"), ("", 7, "C = 3 -> C = 4")]


def test_a_sample_stays_the_same_when_other_code_changes(tmp_path: Path) -> None:
    file, names = tmp_path / "file.py", []
    for more in ("", "X = 1\n\n\n"):
        file.write_text(f"{more}def f(a, b):\n    return a * 2 + b * 3 - min(a, b)\n")
        own = [change for change in changes.of_file(file, "file.py") if change.function]
        names.append([change.difference for change in rooms.sample(own, 3, seed=1)])
    assert names[0] == names[1]
    assert len(names[0]) == 3
    assert [change.difference for change in rooms.sample(own, 3, seed=2)] != names[0]


# ---- which tests concern a change


def test_tests_that_execute_the_line_run_those_first_that_import_the_file() -> None:
    own, other = "tests/unit/test_classify.py", "tests/unit/test_world.py"
    (change,) = [
        change
        for change in changes.of_file(REPO / "lab/judge/classify.py", "lab/judge/classify.py")
        if change.difference.startswith("if bitrate_mbps < median_mbps") and "<=" in change.difference.split("->")[1]
    ]
    line = {str(change.lines.start): [f"{other}::test_a", f"{own}::test_b"], "1": [f"{own}::test_elsewhere"]}
    concern = Concern()
    concern.add(own, {"lines": {change.file: line}, "seconds": {f"{own}::test_b": 2.0}})
    concern.add(other, {"lines": {}, "seconds": {f"{other}::test_a": 1.0}})
    assert concern.tests(change) == [f"{own}::test_b", f"{other}::test_a"]
    concern.seconds[f"{other}::test_a"] = LIMIT_S
    assert concern.tests(change) == [f"{own}::test_b"]
    concern.lines[change.file][change.lines.start].add(own)  # by a fixture: each test of the file may notice it
    assert concern.tests(change)[0] == own


def test_a_function_that_no_test_itself_executes_concerns_those_that_execute_something_of_its_file() -> None:
    file, own = "lab/base/worker.py", "tests/whole/test_pool_losses.py"
    (serving, *_) = [change for change in changes.of_file(REPO / file, file) if change.function == "_serve"]
    concern = Concern()
    concern.add(own, {"lines": {file: {"1": [f"{own}::test_a"]}}, "seconds": {f"{own}::test_a": 1.0}})
    assert concern.tests(serving) == [f"{own}::test_a"]
    assert Concern().tests(serving) == []


# ---- what is a fault


def test_too_few_noticed_and_unlisted_survivors_are_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [("lab/judge/rtt.py", "f", f"return {n}", f"return {n + 1}") for n in range(20)]
    monkeypatch.setattr(survivors, "known", lambda: {keys[0]: "the same", keys[9]: "the same"})
    good = Tally("judge", 20, survivors=keys[:3], noticed=keys[3:])
    assert good.share == 17 / 19  # of those that a test can notice
    assert list(faults.of_rooms([good], is_whole=False)) == [f"listed, but noticed now: {keys[9]}"]
    assert [line.split(":")[0] for line in faults.of_rooms([good], is_whole=True)].count("not listed") == 2
    bad = Tally("judge", 20, survivors=keys[:5], noticed=keys[5:])
    assert next(faults.of_rooms([bad], is_whole=True)) == "lab/judge: noticed=78.9%: must be at least 85%"


def test_a_sample_is_a_fault_where_the_whole_room_must_be_below_the_share() -> None:
    keys = [("lab/judge/rtt.py", "f", f"return {n}", f"return {n + 1}") for n in range(20)]
    too_few, may_be_enough = Tally("judge", 20, keys[:8], keys[8:]), Tally("judge", 20, keys[:5], keys[5:])
    assert list(faults.of_rooms([too_few], is_whole=False)) == ["lab/judge: noticed=60.0%: must be at least 85%"]
    assert not list(faults.of_rooms([may_be_enough, Tally("runs", 0)], is_whole=False))


def of_six_rooms(missed: int) -> list[Tally]:
    """Return five changes of each of six rooms, of which the first were missed."""
    keys = [("lab/judge/rtt.py", "f", f"return {n}", f"return {n + 1}") for n in range(30)]
    parts = [range(first, first + 5) for first in range(0, 30, 5)]
    return [
        Tally(f"room-{part.start}", 5, [keys[n] for n in part if n < missed], [keys[n] for n in part if n >= missed])
        for part in parts
    ]


def test_a_sample_of_a_commit_fails_where_its_survivors_make_the_required_share_implausible() -> None:
    assert not list(faults.of_commit(of_six_rooms(9)))
    (line,) = faults.of_commit(of_six_rooms(10))
    assert line.startswith("all rooms: unnoticed=10: must be at most 9 of 30")


def test_a_survivor_that_is_listed_fails_no_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    found = of_six_rooms(10)
    monkeypatch.setattr(survivors, "known", lambda: dict.fromkeys(found[0].survivors, "the same"))
    assert not list(faults.of_commit(found))
    assert faults.together(found).counted == 25


@pytest.mark.parametrize("counted", [1, 10, 30, 240])
def test_a_commit_of_the_required_share_fails_once_in_a_hundred_times_or_less(counted: int) -> None:
    most = faults.most_unnoticed(counted)
    more = [scipy.stats.binom.sf(number, counted, 0.15) for number in (most - 1, most)]
    assert more[1] <= 0.01 < more[0]


def test_each_listed_survivor_has_a_reason_and_its_line_is_there() -> None:
    for (file, _, before, _), reason in survivors.known().items():
        assert reason
        lines = [" ".join(line.split()) for line in (REPO / file).read_text().splitlines()]
        assert all(line in lines for line in before.splitlines()), (file, before)


def test_a_survivor_is_listed_whatever_the_spaces_before_its_comment() -> None:
    file = REPO / "lab/links/recorded.py"
    lines = file.read_text().splitlines()
    (column,) = (
        change
        for change in changes.of_file(file, "lab/links/recorded.py")
        if "column:" in lines[change.lines.start - 1] and change.difference.count('""') == 1
    )
    assert column.key in survivors.known()


def test_an_entry_of_a_survivor_reads_as_it_was_written() -> None:
    key = ("lab/a.py", "A.b", 'if "x" < y:\nelse:', "if µ:")
    (row,) = tomllib.loads(survivors.toml([key]))["survivor"]
    assert tuple(row[name] for name in survivors.FIELDS) == key


def test_each_change_of_the_c_is_of_a_line_that_stands_in_its_file_once() -> None:
    for change in tomllib.loads(kernel.FILE.read_text())["change"]:
        assert (REPO / change["file"]).read_text().count(change["old"]) == 1, change["name"]
        assert change["old"] != change["new"]
        assert any((REPO / word).is_file() for word in change["tests"])
