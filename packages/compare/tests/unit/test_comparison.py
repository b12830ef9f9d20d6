# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison: its links, its senders, the experiment of each link, and what varies over values of a field."""

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from lab_compare.command import Chosen, CompareOptions, compare_known, fetched
from lab_compare.comparison import Comparison, known_senders
from lab_compare.exits import Exit, Exits
from lab_compare.link_kinds import KINDS, PROFILE_S, Link, links
from lab_compare.matrix.matrix import OTHER, kind_of
from lab_compare.report.sentences import _left
from lab_compare.stand_ins import as_link, stand_in_of
from rich.console import Console

from lab.base.errors import UserError
from lab.base.named_files import profile_files
from lab.commands.part import Part
from lab.runs.experiment import specification
from lab.runs.options import RunOptions
from lab.runs.plan import draw
from lab.schema.cca import Cca, load_ccas
from lab.schema.scenario import load_scenario, scenarios

SERVER = ("geo-viasat", "geo-viasat-thesis", "wifi-high", "wifi-low")  # recorded with one server, which paced


OWN = load_ccas()["reno"].model_copy(update={"name": "mine", "algorithm": "mine", "module": "mine"})


def compared(*own: Cca) -> Comparison:
    senders = {each.name: each for each in own} | known_senders(["cubic", "bbr"])
    return Comparison([next(iter(senders))], senders, links(["wired"]))


def test_a_sender_that_the_lab_does_not_know_is_compared_with_those_that_it_knows() -> None:
    experiment = compared(OWN).experiment(KINDS["wired"], 2)
    assert list(experiment.ccas) == ["mine", "cubic", "bbr"]
    assert experiment.ccas["mine"] is OWN


def test_the_digest_of_a_senders_module_is_part_of_the_specification() -> None:
    first, second = (
        specification(compared(OWN.model_copy(update={"module_digest": digest})).experiment(KINDS["wired"], 2))[
            "digests"
        ]
        for digest in ("a" * 16, "b" * 16)
    )
    assert first["ccas"] != second["ccas"]
    assert {name for name in first if first[name] != second[name]} == {"ccas"}


def test_the_first_trials_have_the_same_links_whatever_their_number() -> None:
    few, many = (compared(OWN).experiment(KINDS["wired"], trials) for trials in (2, 7))
    assert [draw(few, number) for number in (1, 2)] == [draw(many, number) for number in (1, 2)]


def test_a_geo_link_has_the_recorded_ends_and_room_for_a_second_download_only_with_a_rival() -> None:
    geo, link = load_scenario("geo")[1], KINDS["geo"]
    assert (link.profile, link.mtu_bytes, link.pacing) == (geo.profile, geo.mtu_bytes, geo.pacing)
    quick = [each.name for each in links(None, quick=True)]
    assert quick == ["geo", "leo", "lte", "wifi-high", "home-fq_codel", "docsis-pie", "wired"]
    assert links(["geo"], quick=True) == (link,)
    assert Link("a", "wired-clean", 5).topology == "path"
    assert Link("a", "wired-clean", 5, rival="cubic").topology == "dumbbell"
    assert [link.name for link in links(["wired-shared"])] == ["wired-shared"]


@pytest.mark.parametrize(
    ("names", "rule"),
    [
        (["geo", "nowhere"], "links=nowhere: must be a kind of link or a profile: geo, geo-published"),
        (["geo", "geo-viasat"], "links=geo: must be a link that is named once"),
    ],
)
def test_links_that_cannot_be_compared_are_refused(names: list[str], rule: str) -> None:
    with pytest.raises(UserError, match=f"^command line: {rule}"):
        links(names)


def test_every_kind_of_link_is_a_profile_of_the_lab_and_another_one_lasts_as_long_as_given() -> None:
    assert links(["geo-small"], duration_s=9)[0].duration_s == 9
    assert links(["geo-small"])[0].duration_s == PROFILE_S
    assert links(["geo-viasat", "wifi-medium"])[0] == KINDS["geo"]
    assert [name for name, link in KINDS.items() if not link.duration_s > 0] == []
    assert [link.name for link in KINDS.values() if kind_of(link.profile) == OTHER] == []
    assert {link.profile for link in KINDS.values()} <= set(profile_files())


def test_one_sender_alone_and_one_that_is_named_twice_are_refused() -> None:
    with pytest.raises(UserError, match="cca=cubic: must be at least two senders"):
        Comparison(["cubic"], known_senders(["cubic"]), links(["wired"]))
    with pytest.raises(UserError, match="cca=cubic,cubic: must be a list that names each sender once"):
        known_senders(["cubic", "cubic"])


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("--cca cubic", "cca=cubic: must be at least two senders"),
        ("--cca cubic,nobody", "cca=nobody: must be a known sender of lab/cca.yml or a package: "),
        ("--cca cubic,bbr --links mars", "links=mars: must be a kind of link or a profile: "),
        ("--cca cubic,bbr --trials 0", "trials=0: must be greater than or equal to 1"),
        ("--cca cubic,bbr --duration 0", "duration_s=0: must be greater than or equal to 1"),
        ("--cca cubic,bbr --measure speed", "measure=speed: must be one of chokepoint, rule, throughput, "),
        ("--cca cubic,bbr --budget-minutes 0", "budget-minutes=0.0: must be above 0"),
    ],
)
def test_a_mistake_is_one_line(
    words: str, line: str, refusal: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    assert line in refusal("compare", *words.split())
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("minutes", ["nan", "inf", "-1"])
def test_a_budget_of_no_minutes_is_named_as_the_command_names_it(minutes: str, refusal: Callable[..., str]) -> None:
    for command, option in (("compare", "--budget-minutes"), ("try", "--budget")):
        line = refusal(command, *(["x.c"] if command == "try" else ["--cca", "cubic,bbr"]), option, minutes)
        assert line == f"command line: {option.removeprefix('--')}={float(minutes)}: must be above 0"


def test_a_link_whose_recording_is_not_fetched_has_its_stand_in_under_that_ones_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    console = Console(file=io.StringIO(), width=200)
    comparison = Comparison(["cubic"], known_senders(["cubic", "bbr"]), links(["lte", "leo", "wired"]))
    found = fetched(comparison, console).links
    assert [link.name for link in found] == ["lte-verizon-model", "leo-starlink-15s", "wired"]
    assert [link.profile for link in found] == ["lte-verizon-model", "leo-starlink-15s", "wired-clean"]
    assert [link.duration_s for link in found] == [link.duration_s for link in comparison.links]
    assert found[0].title.endswith("(stand-in for lte)")
    assert isinstance(console.file, io.StringIO)
    first, second = console.file.getvalue().splitlines()
    assert first.startswith("lte: recording not fetched (lab traces fetch lte")
    assert second.endswith("leo-starlink-15s, a modelled link, stands in")


def test_an_own_link_without_recording_or_stand_in_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    mine = tmp_path / "mine.yml"
    content = yaml.safe_load(profile_files()["lte-att"].read_text())
    mine.write_text(yaml.safe_dump({name: value for name, value in content.items() if name != "stand_in"}))
    console = Console(file=io.StringIO(), width=200)
    with_another = Comparison(["cubic"], known_senders(["cubic", "bbr"]), links([str(mine), "wired"]))
    assert [link.name for link in fetched(with_another, console).links] == ["wired"]
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().startswith("without mine: recording not fetched (lab traces fetch lte")
    with pytest.raises(UserError, match="must be at least one whose recording is fetched"):
        fetched(Comparison(["cubic"], known_senders(["cubic", "bbr"]), links([str(mine)])), console)


@pytest.mark.parametrize("profile", SERVER)
def test_a_link_of_a_comparison_has_the_mtu_and_the_pacing_of_the_scenarios_over_it(profile: str) -> None:
    known = [scenario for _, scenario in map(load_scenario, scenarios()) if scenario.profile == profile]
    for link in KINDS.values():
        if link.profile == profile:
            assert (link.mtu_bytes, link.pacing) in {(one.mtu_bytes, one.pacing) for one in known}
            assert link.pacing == "fq"


SENDERS = "search,cubic"


def varied(*vary: str, links: str = "wired", **more: object) -> Comparison:
    return Chosen(SENDERS, links, vary=vary, **more).comparison()  # type: ignore[arg-type]


def test_each_link_stands_once_for_each_value_and_runs_with_it_in_a_folder_of_its_own() -> None:
    comparison = varied("down.delay_ms=10,40", links="wired,leo")
    assert [link.name for link in comparison.links] == [
        "wired-down.delay_ms-10",
        "wired-down.delay_ms-40",
        "leo-down.delay_ms-10",
        "leo-down.delay_ms-40",
    ]
    comparison = varied("down.delay_ms=10,40")
    found = [comparison.experiment(link, 2) for link in comparison.links]
    assert [each.profile.down.delay_ms for each in found] == [10, 40]
    assert [each.name for each in found] == ["compare-wired-down.delay_ms-10", "compare-wired-down.delay_ms-40"]


def test_a_parameter_of_a_sender_varies_for_it_alone_and_too_many_points_are_refused() -> None:
    comparison = varied("search.threshold_pct=20,35")
    experiment = comparison.experiment(comparison.links[0], 1)
    assert experiment.ccas["search"].params == {"threshold_pct": 20}
    assert experiment.ccas["cubic"].params == {}
    values = ",".join(map(str, range(1, 102)))
    with pytest.raises(UserError, match="--vary: points=202: must be at most 200: these are 4848 trials"):
        varied(f"down.delay_ms={values}", links="wired,wired-shared")


def test_two_values_that_give_one_name_are_refused() -> None:
    with pytest.raises(UserError, match=r"^--vary: down.rate_mbps=1e\+1: must be written otherwise: with 1e-1, too, "):
        varied("down.rate_mbps=1e+1,1e-1")


def test_a_stand_in_keeps_the_points_apart() -> None:
    comparison = varied("down.loss_pct=0,1", links="lte")
    names = []
    for link in comparison.links:
        profile = stand_in_of(comparison.experiment(replace(link, varied=()), 1).profile)
        assert profile
        names.append(as_link(link, profile).name)
    assert names == ["lte-verizon-model-down.loss_pct-0", "lte-verizon-model-down.loss_pct-1"]


@pytest.mark.parametrize(
    ("chosen", "how", "line"),
    [
        ({}, {}, "shard=1/2: must be used with --fixed or --quick: else results decide which trials come next"),
        ({"fixed": True}, {"resume": True}, "resume=True: must be absent with --shard"),
        ({"quick": True}, {"budget_minutes": 3.0}, "budget-minutes=3.0: must be absent with --shard"),
    ],
)
def test_a_comparison_has_shards_only_where_its_trials_are_known(
    tmp_path: Path, chosen: dict[str, bool], how: dict[str, object], line: str
) -> None:
    part = Part.of("1/2", tmp_path / "out")
    with pytest.raises(UserError, match=line):
        compare_known(
            Chosen(SENDERS, "wired", part=part, **chosen),  # type: ignore[arg-type]
            CompareOptions(**how),  # type: ignore[arg-type]
            RunOptions(1),
            Console(quiet=True),
        )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("exits", "text"),
    [
        ([Exit(2.0, "early"), Exit(4.0, "early")], "on wired at 3.00 s, 2 of 2 early"),
        ([Exit(None, None), Exit(None, None)], "on wired without a recorded exit in 2 trials"),  # not that it stayed
        ([], "on wired in no valid trial"),
        ([Exit(2.0, None, "forged")], "on wired with 1 record that the packets contradict in 1 trial"),
        (
            [Exit(2.0, None, "forged"), Exit(4.0, "chokepoint")],
            "on wired at 4.00 s, 1 of 1 at the chokepoint, with 1 record that the packets contradict",
        ),
    ],
)
def test_an_exit_that_nothing_recorded_is_not_said_not_to_be(exits: list[Exit], text: str) -> None:
    assert _left("wired", Exits(dict(enumerate(exits, start=1)))) == text
