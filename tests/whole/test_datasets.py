# SPDX-License-Identifier: GPL-2.0-or-later
"""datasets.yml names every recording with licence and checksum; they come verified, whole or not at all."""

import io
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from lab_formats.fetching.candidates import Mirror
from lab_formats.fetching.fetch import chosen, fetch

from lab.base.errors import UserError
from lab.schema.dataset import Collections, Description
from lab.schema.load import load
from lab.traces import importers
from lab.traces.datasets import Dataset, by_name, dataset, datasets, path_of
from tests.brief import error_of, put
from tests.command import lab, lab_ok
from tests.recordings import COMMIT, collection, serving, sha256, stanza
from tests.traces_real import DOCUMENTS, LICENSED, RECORDINGS, needs_real, real
from tests.traces_real import FOLDER as REAL


@needs_real
def test_every_real_file_is_named_with_its_size_and_checksum() -> None:
    named_ones = {f"{each.collection}/{each.file}": (each.own.bytes, each.own.sha256) for each in LICENSED}
    for folder, origin in {each.collection: each.origin for each in LICENSED}.items():
        named_ones |= {f"{folder}/{name}": (doc.bytes, doc.sha256) for name, doc in origin.documents.items()}
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
    assert error_of(by_name, both.root).endswith("mine.files=a.csv: must be named apart from a.txt")


def test_an_unknown_name_is_refused_and_a_recording_that_was_not_fetched_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match=r"^leo/none: must be a recording of trace-profiles/datasets.yml: 'lab traces"):
        dataset("leo/none")
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    assert error_of(path_of, "leo-leocc/bw_example").endswith("run 'lab traces fetch leo-leocc/bw_example'")


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
    file = put(tmp_path / "datasets.yml", yaml.safe_dump({"mine": GOOD | changes}))
    assert words in error_of(load, Collections, file)


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


CONTENT = b"1\n2\n3\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "traces"


@pytest.fixture
def origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A server with the origin's paths; its folder of the tests' repository."""
    root = tmp_path / "origin"
    (root / "someone/somewhere" / COMMIT / "data").mkdir(parents=True)
    with serving(root) as address:
        monkeypatch.setenv("LAB_TRACES_ORIGIN", address)
        yield root / "someone/somewhere" / COMMIT


def stored(requested: Dataset) -> bytes:
    return (requested.folder / requested.file).read_bytes()


def refusal_of(requested: list[Dataset], mirror: Path | None = None) -> str:
    return error_of(list, fetch(requested, Mirror(mirror) if mirror else None))


def test_a_recording_comes_once_from_its_origin_and_its_licence_is_printed(origin: Path) -> None:
    (requested,) = collection({"a.txt": CONTENT})
    (origin / "data/a.txt").write_bytes(CONTENT)
    assert list(fetch([requested], None)) == ["mine: CC0-1.0, nobody", f"  mine/a: fetched from {requested.url}"]
    assert stored(requested) == CONTENT
    (origin / "data/a.txt").unlink()
    assert list(fetch([requested], None))[-1] == "  mine/a: already fetched"


def test_what_has_no_licence_is_fetched_for_ones_own_use(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(CONTENT)
    (requested,) = collection({"a.txt": CONTENT}, licence="none")
    lines = list(fetch([requested], Mirror(tmp_path)))
    assert lines[0] == "mine: no licence (for your own use, cannot be passed on), nobody"
    assert stored(requested) == CONTENT


@pytest.mark.parametrize("wrong", [b"1\n2\n4\n", b"", CONTENT + b"4\n", b"1\n"])
def test_another_checksum_is_refused_and_the_file_kept_aside(origin: Path, cache: Path, wrong: bytes) -> None:
    (requested,) = collection({"a.txt": CONTENT})
    (origin / "data/a.txt").write_bytes(wrong)
    refusal = refusal_of([requested])
    (kept,) = (cache / "refused").iterdir()
    assert refusal.endswith(f"kept as {kept}")
    assert f"must be {sha256(CONTENT)[:16]}" in refusal
    assert wrong.startswith(kept.read_bytes())
    assert not requested.fetched
    assert not requested.folder.exists()


@pytest.mark.parametrize("is_there", [True, False])
def test_the_licence_is_stored_beside_the_files_or_its_lack_named(origin: Path, cache: Path, is_there: bool) -> None:
    licence = {"LICENSE": {"path": "COPYING", "bytes": 2, "sha256": sha256(b"ok")}}
    (requested,) = collection({"a.txt": CONTENT}, documents=licence)
    (origin / "data/a.txt").write_bytes(CONTENT)
    if is_there:
        (origin / "COPYING").write_bytes(b"ok")
    last = list(fetch([requested], None))[-1]
    assert requested.fetched
    assert (last == f"  licence text: {cache}/mine/documents") == is_there
    assert ("licence text not stored" in last) != is_there
    assert [file.read_bytes() for file in cache.glob("mine/documents/LICENSE")] == [b"ok"] * is_there


def test_one_file_that_is_missing_at_the_origin_does_not_keep_the_others(origin: Path) -> None:
    gone, there = collection({"a.txt": CONTENT, "b.txt": b"other"})
    (origin / "data/b.txt").write_bytes(b"other")
    assert "1 of 2 recordings were not fetched" in refusal_of([gone, there])
    assert there.fetched
    assert not gone.fetched


def test_without_network_one_line_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_TRACES_ORIGIN", "http://127.0.0.1:1")
    refusal = refusal_of(collection({"a.txt": CONTENT, "b.txt": b"other"}))
    assert refusal.endswith("Connection refused: must be reachable; without network give a folder with --mirror")


def packed(**members: bytes) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name.replace("__", "/"), content)
    return archive.getvalue()


@pytest.mark.parametrize(
    ("members", "taken"),
    [
        ({"set__a": b"not this\n", "set__a.txt": CONTENT}, "set/a.txt"),
        ({"b.csv": CONTENT, "c.csv": b"4\n5\n6\n"}, "b.csv"),  # under another name: by its checksum
    ],
)
def test_a_file_is_taken_out_of_the_archive_at_its_origin(origin: Path, members: dict[str, bytes], taken: str) -> None:
    (requested,) = collection({"a.txt": CONTENT}, archive="all.zip", path="{file}")
    (origin / "all.zip").write_bytes(packed(**members))
    assert list(fetch([requested], None))[-1] == f"  mine/a: fetched from {requested.url}: {taken}"
    assert stored(requested) == CONTENT


@pytest.mark.parametrize("cut", [0, 10, 60, None])
def test_a_damaged_archive_and_a_damaged_member_are_refused(origin: Path, cut: int | None) -> None:
    (requested,) = collection({"a.txt": CONTENT * 100}, archive="all.zip", path="{file}")
    archive = bytearray(packed(**{"a.txt": CONTENT * 100}))
    archive[40] ^= 0xFF
    (origin / "all.zip").write_bytes(archive[:cut])
    assert ("kept as" if cut is None else "must be a zip archive") in refusal_of([requested])


@pytest.mark.parametrize("place", ["mine/a.txt", "data/a.txt", "deep/down/a.txt", "deep/renamed.dat"])
def test_a_mirror_may_be_laid_out_in_any_way(tmp_path: Path, place: str) -> None:
    (requested,) = collection({"a.txt": CONTENT})
    file = tmp_path / "mirror" / place
    file.parent.mkdir(parents=True)
    file.write_bytes(CONTENT)
    assert list(fetch([requested], Mirror(tmp_path / "mirror")))[-1] == f"  mine/a: fetched from {file}"


def test_a_mirror_without_the_file_names_what_it_looked_for_and_a_changed_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mirror/mine/a.txt"
    file.parent.mkdir(parents=True)
    requested = collection({"a.txt": CONTENT})
    looked_for = f"mine/a: must be in the folder, by name or by checksum {sha256(CONTENT)[:16]}…"
    assert refusal_of(requested, tmp_path / "mirror") == looked_for
    file.write_bytes(b"changed")
    assert "kept as" in refusal_of(requested, tmp_path / "mirror")
    assert file.read_bytes() == b"changed"  # the mirror is left as it is
    with pytest.raises(UserError, match=r"^--mirror=.*: must be a folder$"):
        Mirror(tmp_path / "nothing")


@needs_real
def test_the_command_fetches_all_real_recordings_from_a_mirror(tmp_path: Path, cache: Path) -> None:
    done = lab_ok(tmp_path, "traces", "fetch", "--all", "--mirror", str(REAL))
    assert done.stdout.count("fetched from") == len(chosen([], everything=True))
    assert "leo-mmsys24: CC-BY-SA-4.0, J. Zhao and J. Pan" in done.stdout
    assert not list(cache.rglob("*.draft"))


def test_the_command_wants_names_or_all_and_not_both(tmp_path: Path) -> None:
    for words in ([], ["--all", "leo-leocc"]):
        done = lab(tmp_path, "traces", "fetch", *words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "must be given names or --all" in done.stderr
