# SPDX-License-Identifier: GPL-2.0-or-later
"""A bundle brings the cache of one machine to another, and nothing else."""

import os
import shutil
import tarfile
import time
from pathlib import Path

import pytest
from bundles import everything_below, fill_cache, fill_programs
from lab_bundle import make as making
from lab_bundle.content import programs_of, recorded_digests, recording_folders
from lab_bundle.make import make
from lab_bundle.use import use
from lab_bundle.wheels import _shortened, running, wanted

from lab.base import paths
from lab.base.errors import UserError
from lab.commands.doctor import examine
from lab.images import image
from lab.kernel import build
from tests.brief import error_of, folder_at, present, put


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a bundle of a small cache; LAB_CACHE then names an empty folder."""
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "first"))
    fill_cache(tmp_path / "first")
    make(tmp_path / "a.bundle", recordings=False, python=None)
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "second"))
    return tmp_path / "a.bundle"


def test_a_used_bundle_makes_the_same_bundle_again(bundle: Path, tmp_path: Path) -> None:
    use(bundle)
    make(tmp_path / "b.bundle", recordings=False, python=None)
    assert (tmp_path / "b.bundle").read_bytes() == bundle.read_bytes()


def test_times_and_rights_of_the_cache_do_not_change_a_bundle(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for top, _, names in os.walk(tmp_path / "first"):
        for name in names:
            file = Path(top) / name
            if not file.is_symlink():
                os.utime(file, (1, 1))
                file.chmod(0o600 | file.stat().st_mode & 0o100)
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "first"))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1, 2, 3, 4})
    make(tmp_path / "b.bundle", recordings=False, python=None)
    assert (tmp_path / "b.bundle").read_bytes() == bundle.read_bytes()


def test_the_lab_finds_its_kernel_and_images_after_use(bundle: Path) -> None:
    assert build.find() is None
    use(bundle)
    found = present(build.find())
    assert found.linux.read_text() == "a program"
    assert os.access(found.linux, os.X_OK)
    world = present(image.find("world"))
    assert world.drifted == {}
    assert (world.root / "bin/awk").readlink() == Path("/usr/bin/mawk")


def test_a_bundle_leaves_out_sources_objects_and_the_makers_settings(bundle: Path) -> None:
    use(bundle)
    kernel = build.pinned()[0]
    assert (kernel / "src/include/linux/tcp.h").is_file()
    assert not (kernel / "src/net/ipv4/tcp_input.c").exists()
    assert not (kernel / "obj/net").exists()
    builder = present(image.find("builder"))
    assert not (builder.root / "usr/src/linux.tar.xz").exists()
    assert (builder.root / "etc/resolv.conf").read_text() == ""


def test_a_python_source_keeps_its_time_which_its_compiled_form_names(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = put(tmp_path / "first" / f"world-{image.digest('world')}" / "root/usr/lib/x.py", "1\n")
    os.utime(source, (1_600_000_000, 1_600_000_000))
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "first"))
    make(bundle, recordings=False, python=None)
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "second"))
    use(bundle)
    found = present(image.find("world"))
    assert (found.root / "usr/lib/x.py").stat().st_mtime == 1_600_000_000


def test_use_again_changes_nothing(bundle: Path) -> None:
    use(bundle)
    kernel = build.pinned()[0]
    before = kernel.stat().st_mtime_ns, everything_below(paths.cache())
    time.sleep(0.01)
    use(bundle)
    assert (kernel.stat().st_mtime_ns, everything_below(paths.cache())) == before


def test_a_bundle_brings_the_quic_programs_with_their_licences_where_that_was_requested(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "first"))
    with pytest.raises(UserError, match=r"^lab bundle make: lab-quic is not built: use --with quic$"):
        make(tmp_path / "b.bundle", recordings=False, python=None, parts=["quic"])
    fill_programs(tmp_path / "first")
    make(tmp_path / "b.bundle", recordings=False, python=None, parts=["quic"])
    make(tmp_path / "c.bundle", recordings=False, python=None)
    assert (tmp_path / "c.bundle").read_bytes() == bundle.read_bytes()  # what was built and not requested is left out
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "second"))
    use(tmp_path / "b.bundle")
    for stack in programs_of()["quic"]:
        built = present(stack.find())
        assert os.access(built.program, os.X_OK)
        assert (built.program.parent / "licences/one").read_text() == "a licence"
    with tarfile.open(tmp_path / "b.bundle") as tar:
        readme = tar.extractfile("licences/README")
        assert readme
        assert b"packages/quic" in readme.read()


def test_an_empty_cache_gives_no_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    with pytest.raises(UserError, match="the virtual kernel is not built: run 'lab kernel build'"):
        make(tmp_path / "a.bundle", recordings=False, python=None)
    assert not (tmp_path / "a.bundle").exists()


def test_a_package_that_is_not_the_pinned_one_gives_no_bundle(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "first"))
    status = tmp_path / "first" / f"world-{image.digest('world')}" / "root/var/lib/dpkg/status"
    status.write_text(status.read_text().replace(image.locked("world")["iperf3"], "0.0"))
    with pytest.raises(UserError, match=r"iperf3.* must be the pinned version"):
        make(bundle, recordings=False, python=None)


def test_recordings_not_fetched_give_no_bundle(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "first"))
    assert "not fetched: run 'lab traces fetch --all'" in error_of(make, bundle, recordings=True, python=None)


def test_what_the_lab_made_of_a_recording_is_not_in_a_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    known = next(iter(recorded_digests()))
    folder = folder_at(tmp_path / known.rpartition("/")[0])
    for name in (Path(known).name, ".complete", "recording-89a1d08b1930b074.parquet"):
        (folder / name).touch()
    held = next(each for each in recording_folders() if each.path == folder)
    assert [inside for _, inside in held.entries()] == [Path(known).name]


def test_a_bundle_that_cannot_be_finished_leaves_the_former_one(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = bundle.read_bytes()
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "first"))
    monkeypatch.setattr(making, "padding", lambda _size: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make(bundle, recordings=False, python=None)
    assert bundle.read_bytes() == before
    assert not list(bundle.parent.glob(".*.part"))


def test_a_bundle_is_a_tar_that_every_tool_reads(bundle: Path) -> None:
    with tarfile.open(bundle) as archive:
        names = archive.getnames()
    assert names[0] == "manifest.json"
    assert names[-1] == "content.tar.zst"
    assert {"licences/COPYING", "licences/README"} <= set(names)


def test_with_jupyter_each_package_of_both_locks_is_there_once_with_its_hashes() -> None:
    pins = wanted("3.13", jupyter=True)
    names = [pin.name for pin in pins]
    assert names == sorted(set(names))
    assert {"jupyterlab", "jupyter-server", "polars", "papermill"} <= set(names)
    assert {pin.line for pin in running("3.13")} <= {pin.line for pin in pins}
    assert all(pin.hashes for pin in pins)
    assert "pywinpty" not in names
    assert [pin.name for pin in wanted("3.13", jupyter=False)] == [pin.name for pin in running("3.13")]


def test_wheels_are_those_that_running_needs() -> None:
    pins = {pin.name: pin for pin in running("3.13")}
    assert {"numpy", "pydantic-core", "flit-core"} <= pins.keys()
    assert {"papermill", "ipykernel", "jupyter-client"} <= pins.keys(), "lab page and lab reproduce execute notebooks"
    assert not {"pytest", "distributed", "selenium", "ansible-core"} & pins.keys()
    assert all(pin.hashes for pin in pins.values())
    assert pins["numpy"].line != {pin.name: pin for pin in running("3.11")}["numpy"].line


def test_a_wheel_of_many_platforms_has_a_name_that_a_tar_header_holds(tmp_path: Path) -> None:
    tags = "manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64"
    long = tmp_path / f"charset_normalizer-3.5.2-cp311-cp311-{tags}.whl"
    short = tmp_path / "idna-3.11-py3-none-any.whl"
    for file in (long, short):
        file.write_text("a wheel")
    assert _shortened(long).name == "charset_normalizer-3.5.2-cp311-cp311-manylinux2014_x86_64.whl"
    assert _shortened(long.with_name("charset_normalizer-3.5.2-cp311-cp311-manylinux2014_x86_64.whl")).is_file()
    assert _shortened(short) == short


def test_doctor_misses_no_tool_that_only_builds(bundle: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = {finding.name: finding.ok for finding in examine()}
    assert not found["mmdebstrap"]
    use(bundle)
    found = {finding.name: finding.ok for finding in examine()}
    assert found["mmdebstrap"]
    assert found["virtual kernel"]


def test_a_kernel_without_source_refuses_to_be_built_again(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(bundle)
    shutil.rmtree(build.pinned()[0])
    monkeypatch.setattr("lab.base.sandbox.require", lambda: None)
    assert "holds no kernel source, it came from a bundle" in error_of(build.ensure)
