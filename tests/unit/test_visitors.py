# SPDX-License-Identifier: GPL-2.0-or-later
"""Visitors are refused in one line, fetched whole or not at all, and edited exactly; the origin is a server of ours."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.base.errors import UserError
from lab.bundle.content import recording_folders
from lab.commands.visitors import visiting
from lab.kernel.visitors.fetch import chosen, fetch, folder_of, is_fetched
from lab.kernel.visitors.source import visitor_recipe, visitor_source
from lab.node.smoke import Smoke
from lab.runs.own.visitors import require_algorithm
from lab.schema.cca import cca_names, load_ccas
from lab.schema.visitor import load_visitors, visitor_senders
from lab.traces.candidates import Mirror
from tests.command import lab, refused
from tests.origins import serving
from tests.recordings import COMMIT, sha256
from tests.visitors import CONTENT, written


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, and a folder of visitors with one."""
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LAB_VISITORS", str(tmp_path / "own"))
    written(tmp_path / "own")
    return tmp_path / "own"


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    folder = tmp_path / "mirror"
    folder.mkdir()
    (folder / "tcp_mine.c").write_bytes(CONTENT)
    return folder


@pytest.fixture
def origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A server with the origin's paths; its folder of the tests' repository."""
    (tmp_path / "origin/someone/somewhere" / COMMIT / "src").mkdir(parents=True)
    with serving(tmp_path / "origin") as address:
        monkeypatch.setenv("LAB_TRACES_ORIGIN", address)
        yield tmp_path / "origin/someone/somewhere" / COMMIT / "src"


def test_a_visitor_whose_module_registers_another_algorithm_is_refused() -> None:
    sender = visitor_senders()["mine"]
    registered: Smoke = {"algorithms": {"other": [], sender.algorithm: []}, "parameters": {}, "leaks": []}
    require_algorithm(sender, registered)
    with pytest.raises(UserError, match=rf"algorithm={sender.algorithm}: must be what the module registers: other$"):
        require_algorithm(sender, registered | {"algorithms": {"other": []}})


def lines(*names: str, mirror: Path | None = None) -> list[str]:
    return list(fetch(chosen([*names], not names), Mirror(mirror) if mirror else None))


def refusal(*names: str, mirror: Path | None = None) -> str:
    with pytest.raises(UserError) as error:
        lines(*names, mirror=mirror)
    assert "\n" not in str(error.value)
    return str(error.value)


def mine_is_fetched() -> bool:
    return is_fetched("mine", load_visitors()["mine"])


def test_no_visitor_has_the_name_of_a_sender_of_the_labs(own: Path) -> None:
    assert not {*load_visitors()} & {*cca_names()}
    written(own, "cubic")
    with pytest.raises(UserError, match=r"cubic\.yml: name=cubic: must be another name: lab/cca\.yml has it"):
        load_visitors()


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"commit": "main"}, r"commit=main: must "),
        ({"licence": None}, r"licence=: must be given"),
        ({"edits": [{"file": "other.c", "find": "a", "replace": "b", "why": "c"}]}, r"edits name its files: other\.c"),
        ({"files": {"../mine.c": {"path": "a", "bytes": 1, "sha256": "0" * 64}}}, r"files\.\.\./mine\.c"),
        (
            {"files": {"mine.patch": {"path": "a", "bytes": 1, "sha256": "0" * 64}}, "edits": None},
            r"one \.c file, not 0",
        ),
        ({"kernel": "6.1"}, r"kernel=6\.1: must be 'visitors'"),
        ({"kernel": "visitors", "core_patches": ["core.patch"]}, r"whose core_patches name its files: core\.patch"),
        ({"core_patches": ["mine.c"]}, r"with 'kernel: visitors', since core_patches change no other kernel"),
        ({"module": "tcp_mine"}, r"a visitor without 'module': mine\.c is built"),
        ({"algorithm": "a_name_that_is_too_long"}, r"algorithm=a_name_that_is_too_long: must "),
    ],
)
def test_a_wrong_visitor_is_refused_in_one_line(own: Path, changes: dict[str, Any], rule: str) -> None:
    written(own, **changes)
    with pytest.raises(UserError, match=rule) as error:
        load_visitors()
    assert "\n" not in str(error.value)


def test_a_visitor_comes_from_its_origin_and_its_licence_is_printed(origin: Path) -> None:
    (origin / "tcp_mine.c").write_bytes(CONTENT)
    first, second = lines("mine")
    assert first == "mine: GPL-2.0-only, nobody"
    assert second.endswith(f"/someone/somewhere/{COMMIT}/src/tcp_mine.c")
    assert mine_is_fetched()


def test_what_is_fetched_already_is_not_fetched_again(mirror: Path) -> None:
    lines("mine", mirror=mirror)
    (mirror / "tcp_mine.c").unlink()
    assert lines("mine", mirror=mirror)[1] == "  already fetched"


def test_another_commit_is_not_fetched_yet(own: Path, mirror: Path) -> None:
    lines("mine", mirror=mirror)
    assert mine_is_fetched()
    written(own, commit="f" * 40)
    assert not mine_is_fetched()


def test_another_checksum_is_refused_and_nothing_is_stored(mirror: Path) -> None:
    (mirror / "tcp_mine.c").write_bytes(CONTENT.upper())
    assert "tcp_mine.c: sha256=" in refusal("mine", mirror=mirror)
    assert not mine_is_fetched()


@pytest.mark.usefixtures("origin")
def test_an_origin_without_the_file_or_without_a_network_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "404" in refusal("mine")
    monkeypatch.setenv("LAB_TRACES_ORIGIN", "http://127.0.0.1:1")
    assert refusal("mine").endswith("must be reachable; without network give a folder with --mirror")
    assert not mine_is_fetched()


def test_a_licence_that_forbids_distribution_is_shown_and_all_leaves_it_out(own: Path, mirror: Path) -> None:
    written(own, licence="none")
    assert "mine" not in chosen([], True)
    assert lines("mine", mirror=mirror)[0] == "mine: no licence (for your own use, cannot be passed on), nobody"
    assert mine_is_fetched()


def test_no_bundle_holds_a_visitor(mirror: Path) -> None:
    lines("mine", mirror=mirror)
    stored = folder_of("mine", load_visitors()["mine"])
    assert not [folder for folder in recording_folders() if stored.is_relative_to(folder.path)]


def test_the_edits_are_made_in_what_is_built_and_not_in_what_was_fetched(mirror: Path) -> None:
    lines("mine", mirror=mirror)
    source = visitor_source("mine", load_visitors()["mine"])
    assert source.files == {"mine.c": b"static int new_api;\n", "Kbuild": b"obj-m := mine.o\n"}
    assert source.path.read_bytes() == CONTENT


@pytest.mark.parametrize(("find", "times"), [("gone", 0), ("t", 3)])
def test_an_edit_that_no_longer_fits_is_one_line(own: Path, mirror: Path, find: str, times: int) -> None:
    lines("mine", mirror=mirror)
    written(own, edits=[{"file": "mine.c", "find": find, "replace": "x", "why": "a test"}])
    rule = rf"mine\.yml: edits\.0\.find={find}: must be a text that stands once in mine\.c, not {times} times"
    with pytest.raises(UserError, match=rule):
        visitor_source("mine", load_visitors()["mine"])


def test_a_visitor_becomes_a_sender_that_looks_like_no_other(mirror: Path) -> None:
    lines("mine", mirror=mirror)
    sender = visiting(["cubic", "mine"]).senders["mine"]
    assert (sender.label, sender.algorithm, sender.module) == ("Mine", "mine", "mine")
    assert (sender.marker, sender.linestyle) not in {(each.marker, each.linestyle) for each in load_ccas().values()}


def test_a_visitor_of_the_users_changes_no_look_of_the_checkouts(own: Path) -> None:
    before = visitor_senders()
    written(own, "a_first_by_name")
    after = visitor_senders()
    assert {name: after[name] for name in before if name != "mine"} == {n: before[n] for n in before if n != "mine"}


def test_an_edit_makes_another_sender_for_resume(own: Path, mirror: Path) -> None:
    lines("mine", mirror=mirror)
    before = visitor_source("mine", load_visitors()["mine"]).digest
    written(own, edits=None)
    assert visitor_source("mine", load_visitors()["mine"]).digest != before


def test_each_visitor_of_the_checkout_makes_a_sender() -> None:
    assert {*visitor_senders()} == {*load_visitors()}


def test_a_comparison_names_the_command_that_fetches_a_visitor() -> None:
    with pytest.raises(UserError) as error:
        visiting(["cubic", "mine"])
    assert str(error.value) == "command line: cca=mine: must be fetched: run 'lab senders fetch mine'"


def test_a_comparison_states_why_a_visitor_cannot_run(own: Path) -> None:
    written(own, needs="another kernel")
    with pytest.raises(UserError, match="cca=mine: must be a visitor that the lab builds: needs another"):
        visiting(["cubic", "mine"])


def test_the_list_shows_licence_state_slow_start_and_needs(own: Path, tmp_path: Path, mirror: Path) -> None:
    written(own, "theirs", licence="none", needs="another kernel")
    lines("mine", mirror=mirror)
    shown = [" ".join(line.split()) for line in lab(tmp_path / "results", "senders", "list").stdout.splitlines()]
    assert shown[shown.index("mine Mine, GPL-2.0-only, fetched") + 1] == "doubles"
    assert shown[shown.index("theirs Mine, no licence, not fetched") + 2] == "needs another kernel"


def test_an_unknown_visitor_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    line = refused(lab(tmp_path / "results", "senders", "fetch", "nobody"))
    assert line.startswith("command line: name=nobody: must be a known visitor: ")


@pytest.mark.parametrize(
    "words",
    [
        ("run", "compete-pcc", "--backend", "virtual"),
        ("reproduce", "compete-pcc"),
        ("compare", "--cca", "cubic,pcc_vivace"),
    ],
)
def test_every_command_names_the_command_that_fetches_a_scenarios_visitor(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    line = refused(lab(tmp_path / "results", *words))
    assert line == "command line: cca=pcc_vivace: must be fetched: run 'lab senders fetch pcc_vivace'"


def test_a_visitor_runs_in_virtual_time_only(tmp_path: Path, mirror: Path) -> None:
    lines("mine", mirror=mirror)
    options = ("--profile", "wired-clean", "--cca", "mine", "--backend", "host")
    line = refused(lab(tmp_path / "results", "run", *options))
    assert line == "command line: backend=host: must be virtual: visitors (mine) run in the virtual kernel only"


def test_a_visitors_patches_are_edited_too_and_make_a_kernel_of_its_own(own: Path, tmp_path: Path) -> None:
    stored = {"core.patch": b"+old_api\n", "mine.c": CONTENT}
    (tmp_path / "mirror").mkdir()
    for name, content in stored.items():
        (tmp_path / "mirror" / name).write_bytes(content)
    files = {name: {"path": name, "bytes": len(each), "sha256": sha256(each)} for name, each in stored.items()}
    edits = [{"file": "core.patch", "find": "old_api", "replace": "new_api", "why": "a test"}]
    written(own, files=files, edits=edits, kernel="visitors", core_patches=["core.patch"])
    lines("mine", mirror=tmp_path / "mirror")
    recipe = visitor_recipe("mine", load_visitors()["mine"])
    assert recipe
    assert [(patch.name, patch.content) for patch in recipe.core_patches] == [("core.patch", b"+new_api\n")]
    assert recipe.label == "Linux 6.12, 768 bytes per socket for a congestion control, core.patch"
