# SPDX-License-Identifier: GPL-2.0-or-later
"""The VM: its box and acceleration, what its kernel shares with the virtual one, and what a recipe does to a tree."""

import json
import subprocess
import tarfile
from pathlib import Path

import pytest
from lab_vm import acceleration, build, kernel_build

from lab.base import paths
from lab.base.cache import DONE
from lab.base.errors import UserError
from lab.images import image
from lab.images.compile import Compile
from lab.images.refused import refused
from lab.tables.digests import digest_of
from tests.brief import error_of, put

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
def recipe(builder: Path, tmp_path: Path) -> Compile:
    """A build by the recipe, to be, over a stand-in of the kernel's source."""
    return prepare(builder, tmp_path / "build", "true")


def prepare(builder: Path, folder: Path, olddefconfig: str) -> Compile:
    tree = {
        "Makefile": "all: ; @true" + MAKEFILE.format(olddefconfig=olddefconfig),
        "scripts/kconfig/merge_config.sh": MERGE,
        "net/ipv4/Makefile": "obj-y := tcp.o\n",
        "net/sched/Makefile": "obj-y := sch_api.o\n",
    }
    for name, content in tree.items():
        file = put(folder / "linux" / name, content)
        file.chmod(0o755)
    with tarfile.open(folder / "linux.tar", "w") as tar:
        tar.add(folder / "linux", "linux")
    (folder / "config").write_text(DISTRIBUTION)
    kernel_build._write(folder / "recipe", "-1-search-lab")
    return Compile(builder, folder, lambda _steps: None)


def run(recipe: Compile) -> str:
    recipe.run("sh", "recipe/build", "linux.tar", "config")
    return (recipe.folder / "linux-image-6.12_6.12-1_amd64.deb").read_text()


def test_this_kernel_has_the_virtual_kernels_options_of_the_network() -> None:
    requested = kernel_build.fragment("-1-search-lab").splitlines()
    assert {"CONFIG_NET_SCH_NETEM=y", "CONFIG_NET_SCH_CAKE=m", "CONFIG_TCP_CONG_BBR=m", "CONFIG_VETH=y"} <= set(
        requested
    )
    assert 'CONFIG_LOCALVERSION="-1-search-lab"' in requested
    assert not [line for line in requested if "UML" in line or line.startswith("CONFIG_HOSTFS")]


def test_modules_of_the_distribution_are_built_where_the_list_keeps_them(recipe: Compile) -> None:
    got = run(recipe)
    assert not refused({"": "CONFIG_VXLAN=m\nCONFIG_NF_NAT=m\nCONFIG_EXT4_FS=y\n# CONFIG_DRM_I915 is not set\n"}, got)
    assert "# CONFIG_NF is not set" in got  # an expression is for a whole name


def test_only_the_package_of_the_kernel_is_left(recipe: Compile) -> None:
    run(recipe)
    assert not (recipe.folder / "src").exists()
    assert [file.name for file in recipe.folder.glob("*.deb")] == ["linux-image-6.12_6.12-1_amd64.deb"]


def test_an_option_that_the_source_does_not_keep_is_named(builder: Path, tmp_path: Path) -> None:
    reported = r"^build: sh: error: lab.config: CONFIG_VETH=y: must be an option that .*\(log: "
    with pytest.raises(UserError, match=reported):
        run(prepare(builder, tmp_path / "build", "sed -i /CONFIG_VETH/d .config"))


def test_the_modules_are_put_into_the_tree(builder: Path, tmp_path: Path) -> None:
    shown = "cat net/ipv4/Makefile net/sched/Makefile; ls net/ipv4/search/tcp_search.c net/sched/lab/sch_delay_line.c"
    recipe = prepare(builder, tmp_path / "build", shown)
    run(recipe)
    assert "obj-m += search/\nobj-y := sch_api.o\nobj-m += lab/\n" in recipe.log.read_text()


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


@pytest.fixture
def box_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    build.folder().mkdir()
    file = build.folder() / build.NAME
    file.write_bytes(b"a disk")
    (build.folder() / "box.json").write_text(json.dumps({"sha256": digest_of(file), "packages": {"udev": "1"}}))
    (build.folder() / DONE).touch()
    return file


def test_a_whole_box_is_found(box_file: Path) -> None:
    found = build.find()
    assert found
    assert (found.file, found.versions) == (box_file, {"udev": "1"})


def test_a_box_whose_checksum_is_wrong_is_refused(box_file: Path) -> None:
    box_file.write_bytes(b"another disk")
    with pytest.raises(UserError, match=r"search-lab.images.vm: sha256=\w+: must be \w+: remove .* and build it again"):
        build.find()


def test_a_box_that_is_gone_is_refused(box_file: Path) -> None:
    box_file.unlink()
    assert "sha256=missing" in error_of(build.find)


def test_the_hook_of_the_box_runs_where_the_checkout_cannot_be_read(tmp_path: Path) -> None:
    root, tools = tmp_path / "root", tmp_path / "tools"
    for folder in ("sudoers.d", "ssh/sshd_config.d", "systemd/network", "systemd/system", "apt"):
        (root / "etc" / folder).mkdir(parents=True)
    put(tools / "chroot", "#!/bin/sh\n")  # what it would start is in the real root only
    (tools / "chroot").chmod(0o755)
    option, _, text = build.customize_hook().partition("=")
    assert option == "--customize-hook"
    assert str(paths.REPO) not in text
    env = {"PATH": f"{tools}:/usr/bin:/bin", "VAGRANT_KEY": "ssh-rsa key"}
    subprocess.run(["sh", "-c", text, "exec", str(root)], env=env, cwd="/", check=True)
    assert (root / "etc/hostname").read_text() == "search-lab\n"
    assert (root / "home/vagrant/.ssh/authorized_keys").read_text() == "ssh-rsa key\n"


def test_a_full_disk_is_refused_before_anything_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "FREE_BYTES", 10**18)
    with pytest.raises(UserError, match=r"free_bytes=\d+: must be 10{18} to make the box"):
        build._require_space(tmp_path)


def test_the_user_chooses_how_the_vm_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_ACCEL", "qemu")
    assert acceleration.chosen(Path("no box")) == ("qemu", "LAB_ACCEL is set")
    monkeypatch.setenv("LAB_ACCEL", "xen")
    assert "environment: LAB_ACCEL=xen: must be one of kvm, qemu" in error_of(acceleration.chosen, Path("no box"))


def test_without_kvm_the_vm_is_emulated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LAB_ACCEL", raising=False)
    monkeypatch.setattr(acceleration, "KVM", tmp_path / "kvm")
    assert acceleration.chosen(Path("no box"))[0] == "qemu"


@pytest.fixture
def with_kvm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LAB_ACCEL", raising=False)
    monkeypatch.setenv("LAB_CACHE", str(tmp_path))
    monkeypatch.setattr(acceleration, "KVM", tmp_path)  # there, and ours


@pytest.mark.usefixtures("with_kvm")
def test_a_boot_that_hangs_is_ended_and_emulation_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceleration, "LIMIT_S", 0.2)
    monkeypatch.setattr(acceleration, "_qemu", lambda _: ["sh", "-c", "echo booting; sleep 60"])
    kind, why = acceleration.chosen(Path("box"))
    assert (kind, "did not reach its login prompt" in why) == ("qemu", True)
    monkeypatch.setattr(acceleration, "_qemu", lambda _: ["false"])
    assert acceleration.chosen(Path("box")) == (kind, why)  # remembered until the machine boots again


@pytest.mark.usefixtures("with_kvm")
def test_a_boot_that_fails_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(acceleration, "_qemu", lambda _: ["sh", "-c", "echo 'failed to set MSR 0x10a' >&2; exit 1"])
    assert acceleration.chosen(Path("box")) == ("qemu", f"a boot with {tmp_path} ended: failed to set MSR 0x10a")
