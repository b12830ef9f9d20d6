# SPDX-License-Identifier: GPL-2.0-or-later
"""A workload's draws follow their source and the trial's seed, and are bounded; a bad one ends in one line."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lab.base.errors import UserError
from lab.runs.experiment import digest
from lab.runs.plan import draw, make_plan
from lab.schema.load import parse
from lab.schema.scenario import Scenario
from lab.schema.workload import MOST_OBJECTS, Exchange, exchanges, workload_of, workloads
from lab.schema.workloads import requests, video, web, web_archive
from tests.brief import error_of
from tests.conftest import SMALL, experiment_on

MANY = 20_000
NAMES = {"question": "What does a test see?", "topology": "path", "profile": "geo-viasat", "ccas": ["cubic"]}
SCENARIO = NAMES | {"trials": 1, "duration_s": 10, "seed": 1}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.mark.parametrize("parameters", [web.MAIN, web.EMBEDDED])
def test_sizes_of_the_ngmn_model_are_log_normal_within_their_bounds(
    rng: np.random.Generator, parameters: tuple[int, int, int, int]
) -> None:
    mean, sd, least, most = parameters
    sizes = np.array([web.size_bytes(rng, *parameters) for _ in range(MANY)])
    sigma = math.sqrt(math.log(1 + (sd / mean) ** 2))
    whole = stats.lognorm(sigma, scale=mean / math.exp(sigma**2 / 2))
    inside = whole.cdf(most) - whole.cdf(least)

    def cut(x: Any) -> Any:
        return (whole.cdf(x) - whole.cdf(least)) / inside

    assert least <= sizes.min() <= sizes.max() <= most
    assert stats.kstest(sizes, cut).pvalue > 0.01


def test_a_page_has_as_many_embedded_objects_as_ngmn_states(rng: np.random.Generator) -> None:
    counts = [web.embedded_objects(rng) for _ in range(MANY)]
    assert np.mean(counts) == pytest.approx(5.64, abs=0.3)
    assert (min(counts), max(counts)) == (0, 53)


def test_reading_and_parsing_take_exponential_times(rng: np.random.Generator) -> None:
    pages = [each for _ in range(60) for each in web.Web(pages=90).sample(rng)]
    main = [each.wait_s for before, each in itertools.pairwise(pages) if each.group - before.group > 0]
    embedded = [each.wait_s for before, each in itertools.pairwise(pages) if each.group == before.group]
    for waits_s, mean_s in ((main, 30.0), (embedded, 0.13)):
        assert stats.kstest(waits_s, stats.expon(scale=mean_s).cdf).pvalue > 0.01


def test_pages_have_the_almanacs_weights_and_requests(rng: np.random.Generator) -> None:
    pages = [web_archive.page_bytes(rng) for _ in range(MANY)]
    weights_kb = np.quantile([sum(page) / web_archive.KB for page in pages], web_archive.PERCENTILES)
    counts = np.quantile([len(page) for page in pages], web_archive.PERCENTILES)
    assert weights_kb == pytest.approx(web_archive.WEIGHT_KB, rel=0.05)
    assert counts == pytest.approx(web_archive.REQUESTS, rel=0.05)
    assert min(min(page) for page in pages) >= 1


def test_chunks_have_their_bitrate_and_the_spread_that_is_requested(rng: np.random.Generator) -> None:
    model = video.Video(chunks=MOST_OBJECTS, rate_mbps=8, chunk_s=4, spread=0.2)
    sizes = [each.objects_bytes[0] for each in model.sample(rng)]
    assert np.mean(sizes) == pytest.approx(4e6, rel=0.02)
    assert np.std(sizes) / np.mean(sizes) == pytest.approx(0.2, rel=0.05)
    assert {each.objects_bytes for each in video.Video(spread=0).sample(rng)} == {(4_000_000,)}


def test_calls_have_gaps_of_their_mean_or_all_alike_or_none(rng: np.random.Generator) -> None:
    first, *gaps_s = [each.wait_s for each in requests.Requests(count=MOST_OBJECTS, gap_s=2).sample(rng)]
    assert first == 0
    assert stats.kstest(gaps_s, stats.expon(scale=2).cdf).pvalue > 0.01
    fixed = requests.Requests(count=3, gap_s=2, gaps="fixed").sample(rng)
    assert [each.wait_s for each in fixed] == [0, 2, 2]
    assert [each.wait_s for each in requests.Requests(count=3, gap_s=0).sample(rng)] == [0, 0, 0]


@pytest.mark.parametrize("kind", list(workloads()))
def test_the_same_seed_requests_the_same_and_another_something_else(kind: str) -> None:
    workload = workload_of(kind)
    assert exchanges(workload, 5) == exchanges(workload, 5)
    assert exchanges(workload, 5) != exchanges(workload, 6)


@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["web", "web_archive", "video", "requests"]))
def test_every_seed_gives_whole_exchanges_in_order(seed: int, kind: str) -> None:
    found = exchanges(workload_of(kind), seed)
    groups = [each.group for each in found]
    assert groups == sorted(groups)
    assert set(groups) == set(range(1, groups[-1] + 1))
    assert all(each.wait_s >= 0 and each.objects_bytes and min(each.objects_bytes) >= 1 for each in found)
    assert sum(len(each.objects_bytes) for each in found) <= MOST_OBJECTS


def test_a_workload_changes_nothing_of_the_link_and_is_the_same_for_every_sender() -> None:
    plain = experiment_on(SMALL, "cubic", "reno")
    requesting = experiment_on(SMALL, "cubic", "reno", workload="web")
    drawn = draw(requesting, 1)
    assert drawn == draw(plain, 1)
    cubic, reno = (make_plan(requesting, cca, drawn)["flows"][0] for cca in requesting.ccas.values())
    assert cubic["workload"] == reno["workload"]
    assert cubic["size_bytes"] == sum(sum(each["objects_bytes"]) for each in cubic["workload"]["exchanges"])


def test_the_trace_has_room_for_what_is_requested_and_no_more() -> None:
    """A session of minutes must not reserve the memory of a download of minutes."""

    def trace_kb(duration_s: int, **fields: Any) -> int:
        experiment = experiment_on(SMALL, "cubic", duration_s=duration_s, **fields)
        return make_plan(experiment, experiment.ccas["cubic"], draw(experiment, 1))["trace"]["buffer_kb"]

    assert trace_kb(600, workload="requests") < trace_kb(600) / 2
    assert trace_kb(2, workload="requests") == trace_kb(2)


def test_a_scenario_without_a_workload_keeps_its_digest() -> None:
    """Runs that were stored before there were workloads go on with --resume."""
    stored = parse(Scenario, SCENARIO, Path("a.yml")).model_dump()
    assert digest(stored) == digest({key: value for key, value in stored.items() if key != "workload"})


@pytest.mark.parametrize(
    ("workload", "line"),
    [
        ("webb", "workload.kind=webb: must be a known workload: requests, video, web, web_archive"),
        ({}, "workload.kind=: must be a known workload: requests, video, web, web_archive"),
        ({"kind": ["web"]}, "workload.kind=['web']: must be a known workload: requests, video, web, web_archive"),
        (5, "workload=5: must be a workload's name, or its parameters with `kind`"),
        ({"kind": "web", "pages": 0}, "workload.pages=0: must be greater than or equal to 1"),
        ({"kind": "web", "pages": 10**9}, "workload.pages=1000000000: must be less than or equal to 90"),
        ({"kind": "web", "reading_s": -1}, "workload.reading_s=-1: must be greater than or equal to 0"),
        ({"kind": "web", "reading_s": float("inf")}, "workload.reading_s=inf: must be a finite number"),
        ({"kind": "web", "pagse": 3}, "workload.pagse=3: must be left out: it is not a field"),
        ({"kind": "web", "request_bytes": 15}, "workload.request_bytes=15: must be greater than or equal to 16"),
        ({"kind": "requests", "response_bytes": -5}, "workload.response_bytes=-5: must be greater than or equal to 1"),
        ({"kind": "requests", "response_bytes": 10**12}, "must be less than or equal to 1000000000"),
        ({"kind": "requests", "gaps": "none"}, "workload.gaps=none: must be 'fixed' or 'exponential'"),
        ({"kind": "requests", "count": "3"}, "workload.count=3: must be a valid integer"),
        ({"kind": "video", "rate_mbps": 0}, "workload.rate_mbps=0: must be greater than 0"),
        ({"kind": "video", "buffer_s": 1}, "must be a video whose buffer_s=1 holds a chunk of chunk_s=4"),
    ],
)
def test_a_bad_workload_is_one_line(workload: object, line: str) -> None:
    refused = error_of(parse, Scenario, SCENARIO | {"workload": workload}, Path("a.yml"))
    assert refused.startswith("a.yml: workload")
    assert line in refused


@pytest.mark.parametrize("fields", [{"size_bytes": 1000}, {"rival": "cubic"}])
def test_a_workload_stands_alone(fields: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=f"must be a scenario without {next(iter(fields))} where it has a workload"):
        parse(Scenario, SCENARIO | {"workload": "web"} | fields, Path("a.yml"))


OWN = """
from typing import Literal

from lab.schema.workload import Exchange, Workload


class Twice(Workload):
    kind: Literal["twice"] = "twice"
    size: int = 10
    count: int = 2

    def sample(self, rng):
        return [Exchange(n, 0.0, (self.size,)) for n in range(1, self.count + 1)]


WORKLOAD = Twice
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAB_WORKLOADS", str(tmp_path))
    return tmp_path / "twice.py"


def test_a_workload_is_one_file(own: Path) -> None:
    own.write_text(OWN)
    scenario = parse(Scenario, SCENARIO | {"workload": {"kind": "twice", "size": 20}}, Path("a.yml"))
    assert exchanges(workload_of(scenario.workload), 1) == [Exchange(1, 0.0, (20,)), Exchange(2, 0.0, (20,))]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("WORKLOAD = 5", "WORKLOAD=5: must be a class of lab.schema.workload.Workload"),
        ("", "WORKLOAD=None: must be a class of lab.schema.workload.Workload"),
        ("import nothing_of_that_name", "must be Python that can be imported"),
    ],
)
def test_a_file_without_a_workload_is_refused(own: Path, text: str, line: str) -> None:
    own.write_text(text)
    with pytest.raises(UserError, match=line):
        workloads()


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"count": MOST_OBJECTS + 1}, f"objects={MOST_OBJECTS + 1}: must be from 1 to {MOST_OBJECTS} per trial"),
        ({"count": 0}, "objects=0: must be from 1"),
        ({"size": 10**10}, "must be at most 10000000000"),
        ({"size": 0}, "1 of each object"),
    ],
)
def test_a_workload_of_ones_own_is_bounded_too(own: Path, fields: dict[str, int], line: str) -> None:
    own.write_text(OWN)
    with pytest.raises(UserError, match=line):
        exchanges(workload_of({"kind": "twice"} | fields), 1)
