# SPDX-License-Identifier: GPL-2.0-or-later
"""What a bundle installs is what was built: the same bundle again, the same packets, and modules that still compile."""

import shutil
from pathlib import Path

import pytest
from lab_bundle.content import programs_of

from lab.images.compile import Compile
from lab.kernel import build
from lab.kernel.build import Kernel
from lab.tables.digests import SUMS, read_digests
from tests.brief import folder_at
from tests.command import lab_ok, scenario_file

NO_ORIGIN = "http://127.0.0.1:9"
BUILT = all(stack.find() for stack in programs_of()["quic"])
PARTS = ("--with", "quic") if BUILT else ()
TRACES_OF_A_TRIAL = ("packets.parquet", "exits.parquet", "qdisc.parquet", "link.parquet")


@pytest.fixture(scope="module")
def bundle(kernel: Kernel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a bundle of what is built here, of the kernel that every test runs on."""
    assert kernel.linux.is_file()
    file = tmp_path_factory.mktemp("bundle") / "a.bundle"
    lab_ok(file.parent, "bundle", "make", str(file), *PARTS)
    return file


@pytest.fixture(scope="module")
def cache(bundle: Path) -> Path:
    """Return a cache that holds only what the bundle brought."""
    folder = bundle.parent / "cache"
    lab_ok(bundle.parent, "bundle", "use", str(bundle), LAB_CACHE=str(folder))
    return folder


def test_a_bundle_of_a_used_bundle_has_the_same_bytes(bundle: Path, cache: Path) -> None:
    again = bundle.parent / "b.bundle"
    lab_ok(bundle.parent, "bundle", "make", str(again), *PARTS, LAB_CACHE=str(cache))
    same = again.read_bytes() == bundle.read_bytes()  # a comparison by pytest would print 200 MB
    again.unlink()
    assert same


def test_packets_are_the_same_after_a_bundle(cache: Path, tmp_path: Path) -> None:
    scenario = str(scenario_file(tmp_path, ccas=["search"], trials=1))
    for results, more in ((tmp_path / "built", {}), (tmp_path / "bundled", {"LAB_CACHE": str(cache)})):
        lab_ok(results, "run", scenario, **more)
    built, bundled = (
        read_digests(tmp_path / name / "mine/latest/trials/search-001" / SUMS) or {} for name in ("built", "bundled")
    )
    for table in TRACES_OF_A_TRIAL:
        assert built[table] == bundled[table], table


@pytest.mark.skipif(not BUILT, reason="the QUIC programs are not built: lab run quic-stacks builds them")
def test_senders_over_quic_run_from_a_bundle_that_nothing_is_fetched_for(cache: Path, tmp_path: Path) -> None:
    scenario = str(scenario_file(tmp_path, ccas=["search_quic", "hystartpp_ngtcp2"], trials=1))
    origins = {"LAB_CRATES_ORIGIN": NO_ORIGIN, "LAB_DEBIAN_MIRROR": NO_ORIGIN}
    done = lab_ok(tmp_path / "results", "run", scenario, LAB_CACHE=str(cache), **origins)
    assert "building" not in done.stdout
    assert {path.name for path in (tmp_path / "results/mine/latest/trials").iterdir()} == {
        "search_quic-001",
        "hystartpp_ngtcp2-001",
    }


def test_a_module_compiles_to_the_same_bytes_without_kernel_source(cache: Path, kernel: Kernel, tmp_path: Path) -> None:
    folder = folder_at(tmp_path / "modules")
    (built,) = cache.glob("kernel-*[0-9a-f]")
    (builder,) = cache.glob("builder-*[0-9a-f]")
    assert not list((builder / "root/usr/src").glob("*.tar.xz"))
    for above in (tmp_path, *tmp_path.parents):  # run as root, the sandbox's user must reach the folder
        if above.name.startswith("pytest-"):
            above.chmod(0o755)
    build._build_modules(Compile(builder / "root", folder, lambda _steps: None, build.PLACE, built), built)
    module = "lib/modules/{}/tcp_search.ko"
    (release,) = (each.name for each in kernel.modules.iterdir())
    original = (kernel.modules.parents[1] / module.format(release)).read_bytes()
    assert (folder / module.format(release)).read_bytes() == original
    shutil.rmtree(folder)
