# SPDX-License-Identifier: GPL-2.0-or-later
"""The VM's own kernel: what its configuration shares with the virtual kernel's, what its recipe does to a source tree.

The tree is a small stand-in; `lab box kernel` builds the real one, for minutes.
"""

import tarfile
from pathlib import Path

import pytest
from lab_vm import kernel_build

from lab.base.errors import UserError
from lab.images import image
from lab.images.compile import Compile
from lab.images.refused import refused

MERGE = '#!/bin/sh\n# merge_config.sh -m BASE FRAGMENT\nshift; cat "$@" >.config\n'
MAKEFILE = """
kernelversion: ; @echo 6.12
olddefconfig: ; @{olddefconfig}
bindeb-pkg: ; @cp .config ../linux-image-6.12_$(KDEB_PKGVERSION)_amd64.deb && touch ../linux-libc-dev_6.12.deb
"""
DISTRIBUTION = "CONFIG_VXLAN=m\nCONFIG_DRM_I915=m\nCONFIG_NF_NAT=m\nCONFIG_NF=m\nCONFIG_EXT4_FS=y\n"


@pytest.fixture(autouse=True)
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root that compiles, beside a cache of the test's own."""
    root = image.ensure("builder").root
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    return root


@pytest.fixture
def build(builder: Path, tmp_path: Path) -> Compile:
    """A build of the recipe, to be, over a stand-in of the kernel's source."""
    return prepare(builder, tmp_path / "build", "true")


def prepare(builder: Path, folder: Path, olddefconfig: str) -> Compile:
    tree = {
        "Makefile": "all: ; @true" + MAKEFILE.format(olddefconfig=olddefconfig),
        "scripts/kconfig/merge_config.sh": MERGE,
        "net/ipv4/Makefile": "obj-y := tcp.o\n",
        "net/sched/Makefile": "obj-y := sch_api.o\n",
    }
    for name, content in tree.items():
        file = folder / "linux" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        file.chmod(0o755)
    with tarfile.open(folder / "linux.tar", "w") as tar:
        tar.add(folder / "linux", "linux")
    (folder / "config").write_text(DISTRIBUTION)
    kernel_build._write(folder / "recipe", "-1-search-lab")
    return Compile(builder, folder, lambda _steps: None)


def run(build: Compile) -> str:
    """Return the configuration that was built."""
    build.run("sh", "recipe/build", "linux.tar", "config")
    return (build.folder / "linux-image-6.12_6.12-1_amd64.deb").read_text()


def test_this_kernel_has_the_virtual_kernels_options_of_the_network() -> None:
    requested = kernel_build.fragment("-1-search-lab").splitlines()
    assert {"CONFIG_NET_SCH_NETEM=y", "CONFIG_NET_SCH_CAKE=m", "CONFIG_TCP_CONG_BBR=m", "CONFIG_VETH=y"} <= set(
        requested
    )
    assert 'CONFIG_LOCALVERSION="-1-search-lab"' in requested
    assert not [line for line in requested if "UML" in line or line.startswith("CONFIG_HOSTFS")]


def test_modules_of_the_distribution_are_built_where_the_list_keeps_them(build: Compile) -> None:
    got = run(build)
    assert not refused({"": "CONFIG_VXLAN=m\nCONFIG_NF_NAT=m\nCONFIG_EXT4_FS=y\n# CONFIG_DRM_I915 is not set\n"}, got)
    assert "# CONFIG_NF is not set" in got  # an expression is for a whole name


def test_only_the_package_of_the_kernel_is_left(build: Compile) -> None:
    run(build)
    assert not (build.folder / "src").exists()
    assert [file.name for file in build.folder.glob("*.deb")] == ["linux-image-6.12_6.12-1_amd64.deb"]


def test_an_option_that_the_source_does_not_keep_is_named(builder: Path, tmp_path: Path) -> None:
    reported = r"^build: sh: error: lab.config: CONFIG_VETH=y: must be an option that .*\(log: "
    with pytest.raises(UserError, match=reported):
        run(prepare(builder, tmp_path / "build", "sed -i /CONFIG_VETH/d .config"))


def test_the_modules_are_put_into_the_tree(builder: Path, tmp_path: Path) -> None:
    shown = "cat net/ipv4/Makefile net/sched/Makefile; ls net/ipv4/search/tcp_search.c net/sched/lab/sch_delay_line.c"
    build = prepare(builder, tmp_path / "build", shown)
    run(build)
    assert "obj-m += search/\nobj-y := sch_api.o\nobj-m += lab/\n" in build.log.read_text()


def test_a_kernel_is_named_by_all_that_it_is_made_from(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {kernel_build.recipe().suffix, kernel_build._suffix("another compiler")}
    monkeypatch.setattr(kernel_build, "fragment", lambda suffix: f"CONFIG_ANOTHER=y {suffix}")
    names.add(kernel_build.recipe().suffix)
    monkeypatch.setattr(kernel_build, "_files", lambda: {"build": Path(__file__)})
    names.add(kernel_build.recipe().suffix)
    assert len(names) == 4
    assert all(name.endswith("-search-lab") for name in names)


def test_a_machine_is_brought_all_that_builds() -> None:
    with tarfile.open(kernel_build.recipe().file) as tar:
        names = set(tar.getnames())
    single = {f"recipe/{name}" for name in ("build", "kept", "lab.config", "refused.py")}
    assert single | {"recipe/search/Kbuild", "recipe/qdisc/Kbuild"} <= names
