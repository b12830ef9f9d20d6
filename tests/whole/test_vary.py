# SPDX-License-Identifier: GPL-2.0-or-later
"""A sweep's points, before anything runs; its table and figures, from runs that are stored."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from lab.base.errors import UserError
from lab.base.stats import bootstrap
from lab.evaluation import sweep
from lab.figures.sweep import draw
from lab.judge.stored import Stored
from lab.report.sweep import write
from lab.runs.experiment import load_experiment, try_link
from lab.runs.vary import Point, axes_of, points_of, require_parameters
from lab.tables.stored_run import Run
from tests.brief import error_of, present
from tests.stored_run import change, store_run


def points(*given: str, ccas: tuple[str, ...] = ("search", "cubic")) -> list[Point]:
    return points_of(try_link("geo-viasat", list(ccas), {}), axes_of(given), minutes=0.5)


def test_each_point_is_an_experiment_with_a_value_and_a_name_that_does_not_depend_on_the_order_of_fields() -> None:
    found = points("down.delay_ms=20,50")
    names = ["try-geo-viasat-down.delay_ms-20", "try-geo-viasat-down.delay_ms-50"]
    assert [point.experiment.name for point in found] == names
    assert [point.experiment.profile.down.delay_ms for point in found] == [20, 50]
    fields = ("search.threshold_pct=20,35", "duration_s=5,10")
    names = [point.experiment.name for point in points(*fields)]
    assert len(set(names)) == 4
    assert names == [point.experiment.name for point in points(*reversed(fields))]


@pytest.mark.parametrize(
    ("field", "read"),
    [
        ("noise.server_start_ms=0", lambda each: each.profile.noise.server_start_ms == 0),
        ("topology.links.0.mtu=1400", lambda each: each.topology.topology.links[0].mtu == 1400),
        ("mtu_bytes=1400", lambda each: each.scenario.mtu_bytes == 1400),
        ("profile=agree", lambda each: each.scenario.profile == "agree"),
        ("rival=cubic", lambda each: [*each.rivals] == ["cubic"]),
        ("search.threshold_pct=20", lambda each: each.ccas["search"].params == {"threshold_pct": 20}),
    ],
)
def test_a_field_of_profile_topology_scenario_or_sender_can_vary(field: str, read: object) -> None:
    extra = ("topology=dumbbell",) if field.startswith("rival") else ()
    (point,) = points(field, *extra)
    assert read(point.experiment)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("field", "entry"), [("rivals.0.count=3", ("bbr", 3, 0)), ("rivals.0.start_s=2", ("bbr", 1, 2))]
)
def test_a_rival_written_in_short_varies_as_an_entry_of_rivals(field: str, entry: tuple[str, int, float]) -> None:
    (point,) = points_of(load_experiment("compete-bbr"), axes_of([field]), minutes=0.5)
    (found,) = point.experiment.scenario.beside
    assert (found.cca, found.count, found.start_s) == entry


@pytest.mark.parametrize("field", ["duration_s=5", "down.delay_ms=20", "rival=bbr"])
def test_a_sender_of_a_users_file_stays_in_a_point_whatever_varies(field: str) -> None:
    base = load_experiment("compete-cubic")
    own = base.ccas["cubic"].model_copy(update={"name": "mystack"})
    scenario = base.scenario.model_copy(update={"ccas": ["mystack"], "claims": []})
    (point,) = points_of(replace(base, scenario=scenario, ccas={"mystack": own}), axes_of([field]), minutes=0.5)
    assert point.experiment.ccas == {"mystack": own}


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (["down.dela_ms=20"], r"--vary: down.dela_ms=20: must be left out: .* field: did you mean delay_ms\?"),
        (["fish=1"], r"--vary: fish=1: must be a field of profile, topology, scenario or sender: .*"),
        (["down.delay_ms=-3"], "--vary: down.delay_ms=-3: must be greater than or equal to 0"),
        (["down.delay_ms=fast"], "--vary: down.delay_ms=fast: must be a valid number.*"),
        (["down.delay_ms.mean=3"], "--vary: down.delay_ms.mean=3: must be a field that this experiment has"),
        (["down.delay_ms=3", "down.delay_ms=4"], "--vary: down.delay_ms=4: must be given once, with all its values"),
        (["down.delay_ms=3,3.0"], "--vary: down.delay_ms=3.0: must be each value once"),
        (["down.delay_ms=1e2,100"], "--vary: down.delay_ms=100: must be each value once"),
        (["down.delay_ms=010,1e+1"], r"--vary: down.delay_ms=1e\+1: must be each value once"),
        (["down.delay_ms=3,"], "--vary: down.delay_ms=3,: must be FIELD=a,b,c, .*"),
        (
            ["down.delay_ms=1.0e+1,1.0e-1"],
            r"--vary: down.delay_ms=1.0e\+1: must be written otherwise: with 1.0e-1, too, the run is .*",
        ),
        (
            ["topology.links.0.endpoints.0=nobody:eth1"],
            r"--vary: topology.links.endpoints=nobody:eth1: .* known node.*",
        ),
        (
            ["topology.nodes.gateway.exec.0=tc qdisc add dev eth2 root pfifo"],
            r".*exec.0=tc .*: must be left out: the lab.*",
        ),
        (["mtu_bytes=null"], "--vary: mtu_bytes=null: must be a number or a name"),
        (["cubic.hystart=0"], "--vary: cubic.hystart=0: must be a parameter of a sender that has some"),
        (["search.threshold_pct=high"], "--vary: params.threshold_pct=high: must be a valid integer"),
        (["seed=" + ",".join(map(str, range(201)))], ".*points=201: must be at most 200: these are 1206 trials, .*min"),
        (["seed=1", "duration_s=2", "mtu_bytes=1400"], "--vary: fields=3: must be at most 2: .*"),
    ],
)
def test_a_mistake_is_one_line(given: list[str], line: str) -> None:
    with pytest.raises(UserError, match=f"^{line}$") as refused:
        points(*given)
    assert "\n" not in str(refused.value)


def test_an_unknown_parameter_is_refused_and_no_claim_is_judged_by_a_changed_link() -> None:
    found = points("search.threshhold_pct=20")
    with pytest.raises(UserError, match=r"search\.threshhold_pct=20: must be .* did you mean threshold_pct\?"):
        require_parameters([each.texts for each in found], {"search": ["bins", "threshold_pct"]})
    thesis = load_experiment("thesis-geo")
    (changed,) = (each.experiment.scenario for each in points_of(thesis, axes_of(["seed=3"]), minutes=1))
    assert thesis.scenario.claims
    assert (changed.claims, changed.published, changed.campaign, changed.in_summary) == ([], [], False, False)
    assert points()[0].experiment == try_link("geo-viasat", ["search", "cubic"], {})  # nothing varies: the base


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> list[Stored]:
    folder, senders = tmp_path_factory.mktemp("points"), ("search", "cubic")
    return [Stored.of(Run(store_run(folder, trials=6, name=f"point-{text}", senders=senders))) for text in "12"]


@pytest.mark.parametrize("fields", [["down.delay_ms"], ["down.delay_ms", "mtu_bytes"], ["topology"]])
def test_the_page_of_a_sweep_draws_each_measure_over_its_fields(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: list[Stored], fields: list[str]
) -> None:
    monkeypatch.setenv("LAB_RESULTS", str(tmp_path / "results"))
    found = [(dict.fromkeys(fields, f"{text}00"), each) for text, each in zip("12", stored, strict=True)]
    folder = sweep.store("geo", sweep.table_of(found))
    table = sweep.read(folder)
    throughput = table.filter(measure="throughput", cca="search")
    low, high = bootstrap([6.0, 7.0, 8.0, 9.0, 10.0, 11.0])
    assert throughput.select("n", "mean", "lo", "hi").rows() == [(6, 8.5, low, high)] * 2
    assert sweep.fields_of(table) == fields
    drawn = present(draw(table, "throughput"))
    assert "search at 100" in drawn.alt
    page = write(folder, "geo", "Which <delay>?", table).read_text()
    assert f"geo over {' and '.join(fields)}" in page
    assert "Which &lt;delay&gt;?" in page


def test_a_mean_of_downloads_that_were_too_short_for_an_object_is_marked(tmp_path: Path) -> None:
    """The first of cubic's downloads had 1 MB, and the third ended before."""
    run = Stored.of(Run(store_run(tmp_path, trials=3, senders=("search", "cubic"))))
    table = sweep.table_of([({"mtu_bytes": "1500"}, run)])
    assert "interval" not in present(draw(table, "throughput")).caption  # three trials have none
    megabyte = table.filter(measure="object_1000000")
    assert megabyte.select("cca", "lower_bounds").rows() == [("search", 0), ("cubic", 1)]
    page = write(tmp_path, "geo", "Which?", table).read_text()
    for cca, mean, bound in megabyte.select("cca", "mean", "lower_bounds").iter_rows():
        assert (f">≥{mean:.2f}<" in page, f"{cca} at 1500: {'≥' * bound}{mean:.3g}" in page) == (bool(bound), True)
    assert sweep.fields_of(table) == sweep.fields_of(table.drop("lower_bounds")) == ["mtu_bytes"]


def test_downloads_beside_rivals_have_every_measure_in_a_sweep(tmp_path: Path) -> None:
    run = store_run(tmp_path, trials=2, senders=("search", "cubic"))
    alone = sweep.table_of([({"rivals.0.count": "1"}, Stored.of(Run(run)))])
    change(run, scenario={"rivals": [{"cca": "bbr", "count": 1, "start_s": 0.0}]})
    beside = sweep.table_of([({"rivals.0.count": "1"}, Stored.of(Run(run)))])
    assert "throughput" in beside["measure"].to_list()
    assert beside.equals(alone)


def test_a_sender_of_a_users_file_has_a_line_of_its_own_in_a_sweep(tmp_path: Path, stored: list[Stored]) -> None:
    table = sweep.table_of([({"mtu_bytes": text}, each) for text, each in zip("12", stored, strict=True)])
    table = table.with_columns(pl.col("cca").replace("search", "mystack"))
    assert "mystack" in write(tmp_path, "geo", "Which?", table).read_text()
    drawn = present(draw(table, "throughput"))
    (axis,) = drawn.figure.axes
    _, names = axis.get_legend_handles_labels()
    assert names == ["mystack", "CUBIC with HyStart (Linux default)"]
    looks = {(one.get_marker(), one.get_linestyle()) for one in axis.lines if str(one.get_marker()) in "osv^D<>pPXdh*"}
    assert len(looks) == 2


def test_senders_of_equal_values_stand_side_by_side_in_a_sweep(stored: list[Stored]) -> None:
    table = sweep.table_of([({"mtu_bytes": text}, each) for text, each in zip("12", stored, strict=True)])
    drawn = present(draw(table.with_columns(mean=pl.lit(5.0)), "throughput"))
    (axis,) = drawn.figure.axes
    search, cubic = (line for line in axis.lines if str(line.get_marker()) in "os")
    places = [np.asarray(line.get_xydata()) for line in (search, cubic)]
    first, second = (line.get_transform().transform(place) for line, place in zip((search, cubic), places, strict=True))
    assert (second - first).round(3).tolist() == [[round(3.0 * drawn.figure.dpi / 72, 3), 0.0]] * 2
    assert all(axis.viewLim.contains(*point) for place in places for point in place)


def test_a_sender_without_a_value_is_named_below_the_figure(stored: list[Stored]) -> None:
    table = sweep.table_of([({"mtu_bytes": text}, each) for text, each in zip("12", stored, strict=True)])
    nothing = pl.when(pl.col("cca") == "search").then(None).otherwise("mean")
    drawn = present(draw(table.with_columns(mean=nothing.cast(pl.Float64)), "throughput"))
    assert drawn.caption.endswith("with its 95 % interval. Without any value: search.")


def test_a_folder_without_the_table_of_a_sweep_is_one_line(tmp_path: Path) -> None:
    assert "sweep.csv: No such file or directory: must be the table of a sweep" in error_of(sweep.read, tmp_path)
    (tmp_path / sweep.FILE).write_text(json.dumps([1]))
    assert "must be a column" in error_of(sweep.read, tmp_path)
