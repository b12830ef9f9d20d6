# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user writes is taken as it is, or refused in one line that names file, field and rule."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from matplotlib.markers import MarkerStyle

from lab.base import paths
from lab.base.errors import UserError
from lab.base.named_files import scenario_files
from lab.commands.inventory import check_all
from lab.runs.experiment import load_experiment
from lab.schema import cca
from lab.schema.topology import load_topology
from tests.brief import error_of, put

GEO = yaml.safe_load((paths.SCENARIOS / "geo.yml").read_text())


def scenario_file(folder: Path, **changes: Any) -> str:
    file = put(folder / "mine.yml", yaml.safe_dump(GEO | changes))
    return str(file)


def refusal_of(name: str) -> str:
    return error_of(load_experiment, name)


def test_everything_in_the_checkout_loads_and_a_scenario_may_be_a_file_anywhere(tmp_path: Path) -> None:
    assert "all good" in list(check_all())[-1]
    assert load_experiment(scenario_file(tmp_path, trials=3)).scenario.trials == 3
    assert {link.mtu for link in load_topology("path", "test").topology.links} == {1500}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"duration_s": 0}, "mine.yml: duration_s=0: must be greater than or equal to 1"),
        ({"trials": -1}, "mine.yml: trials=-1: must be greater than or equal to 1"),
        (
            {"ccas": ["search", "vegaz"]},
            "mine.yml: ccas=vegaz: must be a known sender of lab/cca.yml or a package: did you mean vegas?",
        ),
        ({"ccas": ["cubic", "cubic"]}, "must be a list that names each sender once"),
        ({"profile": "mars"}, "mine.yml: profile=mars: must be a known profile of trace-profiles/: 5g-driving, "),
        ({"topology": "ring"}, "mine.yml: topology=ring: must be a known topology: dumbbell, dumbbell-4, "),
        ({"flavour": 1}, "mine.yml: flavour=1: must be left out: it is not a field"),
        ({"duration": 5}, "mine.yml: duration=5: must be left out: it is not a field: did you mean duration_s?"),
        (
            {"rivals": [{"cca": "bbr", "starts_s": 1}]},
            "rivals.0.starts_s=1: must be left out: it is not a field: did you mean start_s?",
        ),
        ({"duration_s": "long"}, "mine.yml: duration_s=long: must be a valid integer"),
        ({"mtu_bytes": 575}, "mine.yml: mtu_bytes=575: must be greater than or equal to 576"),
        ({"mtu_bytes": 1501}, "mine.yml: mtu_bytes=1501: must be at most 1500, the MTU of topology path"),
        ({"mtu_bytes": 1360.5}, "mine.yml: mtu_bytes=1360.5: must be a valid integer"),
        ({"size_bytes": 1400, "mtu_bytes": 1400}, "mine.yml: size_bytes=1400: must be above 1400, the MTU: a "),
        ({"pacing": "cake"}, "mine.yml: pacing=cake: must be 'fq'"),
        ({"rivals": [{"cca": "vegaz"}]}, "mine.yml: rivals.cca=vegaz: must be a known sender"),
        ({"rivals": [{"cca": "cubic"}]}, "mine.yml: topology=path: must be one with lab.rival-sender and"),
        ({"rivals": [{"cca": "cubic", "count": 64}]}, "must be a scenario of at most 63 rivals"),
        ({"rivals": [{"cca": "cubic", "start_s": 45}]}, "must be a scenario whose start_s of rivals is below its"),
        ({"rival": ""}, "mine.yml: rival=: must be some text"),
        ({"rivals": [{"cca": "cubic"}], "rival": "bbr"}, "must be a scenario with rival or rivals, not with both"),
        (
            {"rivals": [{"cca": "cubic"}, {"cca": "bbr"}], "topology": "dumbbell", "pacing": None},
            "mine.yml: rivals=bbr: must be on another host than server2, whose senders pace otherwise: more pairs",
        ),
    ],
)
def test_a_wrong_field_is_named_with_its_rule(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    assert words in refusal_of(scenario_file(tmp_path, **changes))


def test_a_missing_field_a_file_that_is_not_yaml_and_a_missing_one_are_named(tmp_path: Path) -> None:
    file = put(tmp_path / "mine.yml", yaml.safe_dump({key: value for key, value in GEO.items() if key != "question"}))
    assert refusal_of(str(file)) == f"{file}: question=: must be given"
    file.write_text("question: [unclosed\n")
    assert f"{file}: line 2" in refusal_of(str(file))
    assert "No such file" in refusal_of(str(tmp_path / "none.yml"))


def test_an_unknown_scenario_is_refused_with_those_that_are_spelt_alike_or_with_the_first_five() -> None:
    refused = "command line: scenario={}: must be a known scenario: "
    assert refusal_of("gao") == f"{refused.format('gao')}did you mean geo?"
    first, more = ", ".join(list(scenario_files())[:5]), len(scenario_files()) - 5
    assert refusal_of("xyz") == f"{refused.format('xyz')}{first}, and {more} more"


def ccas_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "cca.yml").write_text(text)
    monkeypatch.setattr(cca, "CCAS", tmp_path / "cca.yml")


STANZA = "{name}: {{label: x, algorithm: reno, slow_start_exit: loss, exit_label: loss{look}}}\n"


@pytest.mark.parametrize("times", [1, 3])
def test_senders_of_any_number_get_distinct_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    count = times * len(cca.MARKERS) * len(cca.LINESTYLES)
    ccas_file(tmp_path, monkeypatch, "".join(STANZA.format(name=f"s{n}", look="") for n in range(count)))
    looks = {(sender.marker, sender.linestyle) for sender in cca.load_ccas().values()}
    assert len(looks) == count


LOOK = ', colour: "#000000", marker: o, linestyle: "-"'
MISSPELT = "two: {label: y, algorithm: cubic, slow_start_exit: hystrat}\n"


@pytest.mark.parametrize(
    ("second", "line"),
    [
        (STANZA.format(name="two", look=LOOK), r"marker=o: must be another marker or line style: one has the same"),
        (MISSPELT, r"slow_start_exit=hystrat: must be a cause that has an exit_label: loss$"),
        (STANZA.format(name="two", look=", params: {gain: high}"), r"params\.gain=high: must be a valid integer$"),
        (STANZA.format(name="two", look=", colour: red"), r"colour=red: must be a colour such as #0072B2$"),
    ],
)
def test_a_sender_with_a_wrong_field_or_the_look_of_another_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: str, line: str
) -> None:
    ccas_file(tmp_path, monkeypatch, STANZA.format(name="one", look=LOOK) + second)
    with pytest.raises(UserError, match=rf"two\.{line}"):
        cca.load_ccas()


def test_a_look_for_one_more_sender_is_none_that_is_taken_and_matplotlib_draws_its_marker() -> None:
    known = {sender.look for sender in cca.load_ccas().values()}
    new = [look for look, _ in zip(cca.looks(known), range(40), strict=False)]
    looks = {(look["marker"], look["linestyle"]) for look in new}
    assert len(looks) == 40
    assert not looks & known
    for look, _ in zip(cca.looks(()), range(60), strict=False):
        MarkerStyle(look["marker"])
