# SPDX-License-Identifier: GPL-2.0-or-later
"""datasets.yml names every recording with origin, licence and checksum, or is refused in one line."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.base.errors import UserError
from lab.schema.dataset import Collections, Description
from lab.schema.load import load
from lab.traces import importers
from lab.traces.datasets import by_name, dataset, datasets, path_of
from lab.traces.fetch import chosen
from tests.recordings import sha256, stanza
from tests.traces_real import DOCUMENTS, LICENSED, RECORDINGS, needs_real, real


@needs_real
def test_every_real_file_is_named_with_its_size_and_checksum() -> None:
    named_ones = {f"{each.collection}/{each.file}": (each.own.bytes, each.own.sha256) for each in LICENSED}
    for collection, origin in {each.collection: each.origin for each in LICENSED}.items():
        named_ones |= {f"{collection}/{name}": (doc.bytes, doc.sha256) for name, doc in origin.documents.items()}
    contents = {name: file.read_bytes() for name, file in (RECORDINGS | DOCUMENTS).items()}
    assert named_ones == {name: (len(content), sha256(content)) for name, content in contents.items()}


def test_a_recording_states_where_it_is_from_what_its_numbers_mean_and_its_licence() -> None:
    lte = dataset("lte-mahimahi/TMobile-LTE-short.down")
    assert lte.url == (
        "https://raw.githubusercontent.com/ravinet/mahimahi/ae477d437615b972217498ba52be07db17a15618"
        "/traces/TMobile-LTE-short.down"
    )
    assert lte.recorded == ["capacity"]
    assert lte.origin.licence == "GPL-3.0-or-later"
    logs = dataset("geo-viasat-logs/viasat-9").origin
    assert logs.terms == "no licence (for your own use, cannot be passed on)"
    assert not logs.may_be_passed_on
    assert dataset("leo-leocc/bw_example").origin.terms == "MIT"


def test_a_path_with_spaces_is_quoted_in_the_url_and_of_an_archive_all_is_downloaded() -> None:
    assert "04-Ping-Traces%20%28Latency%20Tests%29/ping-trace-01.log" in dataset("5g-5gophers/ping-trace-01").url
    assert dataset("5g-ucc/Download/Static/B_2020.02.14_13.21.26").url.endswith("/5G-production-dataset.zip")
    assert dataset("leo-leocc/bw_example.txt") == dataset("leo-leocc/bw_example")  # with and without its suffix


def test_every_recording_has_a_name_of_its_own_and_two_of_one_name_are_refused() -> None:
    wholes = [each.folder for each in datasets().values() if each.part == Description()]
    assert max(Counter(wholes).values()) == 1
    both = Collections.model_validate({"mine": stanza({"a.txt": b"1", "a.csv": b"2"})})
    with pytest.raises(UserError, match=r"mine.files=a.csv: must be named apart from a.txt$"):
        by_name(both.root)


def test_an_unknown_name_is_refused_and_a_recording_that_was_not_fetched_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match=r"^leo/none: must be a recording of trace-profiles/datasets.yml: 'lab traces"):
        dataset("leo/none")
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    with pytest.raises(UserError, match=r"run 'lab traces fetch leo-leocc/bw_example'$"):
        path_of("leo-leocc/bw_example")


GOOD = stanza({"a.txt": b"1 2 3"})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"commit": "main"}, "mine.commit=main: must be"),
        ({"repository": "https://example.org/x"}, "mine.repository=https://example.org/x: must be"),
        ({"licence": ""}, "mine.licence=: must be"),
        ({"recorded": ["speed"]}, "mine.recorded.0=speed: must be"),
        ({"colour": "red"}, "mine.colour=red: must be left out: it is not a field"),
        ({"files": {"a.txt": {"bytes": 5, "sha256": "12"}}}, "mine.files.a.txt.sha256=12: must be"),
        ({"files": {"a.txt": {"bytes": "5", "sha256": "0" * 64}}}, "mine.files.a.txt.bytes=5: must be a valid integer"),
        ({"files": {"../a.txt": {"bytes": 5, "sha256": "0" * 64}}}, "must be a path that stays in its folder"),
        ({"path": "/etc/passwd"}, "mine.path=/etc/passwd: must be a path that stays in its folder"),
        ({"files": {}}, "mine.files={}: must be"),
        ({"path": None}, "must be a collection that gives 'path' for a.txt"),
    ],
)
def test_what_is_wrong_is_named_with_its_rule(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    file = tmp_path / "datasets.yml"
    file.write_text(yaml.safe_dump({"mine": GOOD | changes}))
    with pytest.raises(UserError) as refused:
        load(Collections, file)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_of_several_links_is_known_by_its_parts_and_a_recording_of_two_needs_both() -> None:
    car = [each for each in datasets() if each.startswith("5g-5gophers/car-driving-trace-1")]
    assert car == [f"5g-5gophers/car-driving-trace-1/{carrier}" for carrier in ("Sprint", "TMobile", "Verizon")]
    assert dataset(car[1]).options == {"carrier": "TMobile"}
    with pytest.raises(UserError, match=r"^5g-5gophers/car-driving-trace-1: must be one of its parts: .*/Sprint, "):
        dataset("5g-5gophers/car-driving-trace-1")
    pair = dataset("leo-leocc/delay_example/with-rate")
    assert [file.file for file in pair.files] == ["delay_example.txt", "bw_example.txt"]
    assert chosen([pair.name], everything=False) == pair.files


RATES = {"rate_down_mbps", "rate_up_mbps", "opportunities"}


@needs_real
@pytest.mark.parametrize("name", sorted(each.name for each in LICENSED))
def test_the_description_of_a_recording_is_what_its_importer_finds(name: str) -> None:
    described = dataset(name)
    beside = {option: value for option, value in described.written_options.items() if value in described.origin.files}
    files = {option: real(f"{described.collection}/{value}") for option, value in beside.items()}
    found = importers.read(
        real(f"{described.collection}/{described.file}"), described.own.format, **described.written_options | files
    )
    columns = set(found.frame.columns)
    rates = [meaning for meaning in described.recorded if meaning in ("capacity", "goodput", "usage", "rate")]
    assert rates == ([found.meaning or "rate"] if columns & RATES else [])
    assert ("rtt" in described.recorded) == ("rtt_ms" in columns)
    assert ("delay" in described.recorded) == ("delay_ms" in columns)
    assert ("acks" in described.recorded) == ("acked_bytes" in columns)
    assert ("loss" in described.recorded) == bool(columns & {"lost", "loss_pct"})
    assert (described.length_s is None) == (found.kind == "samples")
    if described.length_s:
        assert found.frame["t_s"][-1] == pytest.approx(described.length_s, rel=0.02)
