# SPDX-License-Identifier: GPL-2.0-or-later
"""Making the box, once for each digest of its packages and recipe; its checksum is looked at again at every use."""

import hashlib
import json
import os
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

from lab.base import paths
from lab.base.cache import finished, publish
from lab.base.errors import UserError
from lab.images import image
from lab.tables.digests import digest_of

HERE = Path(__file__).parent
RECIPE = (HERE / "customize", HERE / "disk")
IMAGE = "box"
NAME = "search-lab.images.vm"
DISK_MB = 6144
MOST_BYTES = 400_000_000
FREE_BYTES = 5_000_000_000  # root folder, raw disk (sparse), compressed disk and box, while it is made
KEY_FOLDERS = ("/usr/share/rubygems-integration/all/gems", "/opt/vagrant/embedded/gems")
TOOLS = {"fakeroot": "fakeroot", "qemu-img": "qemu-utils", "sfdisk": "fdisk", "mke2fs": "e2fsprogs"}
BOX_VAGRANTFILE = 'Vagrant.configure("2") { |config| config.vm.provider(:libvirt) { |vm| vm.disk_bus = "virtio" } }\n'


@dataclass(frozen=True)
class Box:
    """A made box."""

    file: Path
    sha256: str
    versions: dict[str, str]  # every package in it

    @property
    def digest(self) -> str:
        """What names the box among those that Vagrant knows."""
        return self.file.parent.name.removeprefix("box-")


def digest() -> str:
    """Digest of everything a box is made from."""
    content = hashlib.sha256(f"{image.digest(IMAGE)} {DISK_MB} {BOX_VAGRANTFILE}".encode())
    for file in RECIPE:
        content.update(file.read_bytes())
    return content.hexdigest()[:16]


def folder() -> Path:
    """Return where the box of the present recipe is kept."""
    return paths.cache() / f"box-{digest()}"


def find() -> Box | None:
    """Return the box if it is made; UserError where its checksum is wrong."""
    if not finished(folder()):
        return None
    stored = json.loads((folder() / "box.json").read_text())
    box = Box(folder() / NAME, stored["sha256"], stored["packages"])
    got = digest_of(box.file) if box.file.is_file() else "missing"
    if got != box.sha256:
        raise UserError(f"{box.file}: sha256={got}: must be {box.sha256}: remove {folder()} and build it again")
    return box


def ensure() -> Box:
    """Return the box, making it where it is not made."""
    with publish(folder()) as draft:
        if draft:
            _require_tools()
            _require_space(draft)
            _make(draft)
    box = find()
    assert box
    return box


def _make(draft: Path) -> None:
    work = draft / "work"
    work.mkdir()
    tar = work / "root.tar"
    os.environ["VAGRANT_KEY"] = _vagrant_key()
    image.make_tar(IMAGE, tar, customize_hook())
    image.run_logged(["fakeroot", str(HERE / "disk"), str(tar), str(work), str(DISK_MB)], None, work / "disk.log")
    versions = image.installed((work / "root/var/lib/dpkg/status").read_text())
    image.require_pinned(IMAGE, versions)
    compressed = ["-c", "-o", "compression_type=zstd", "-m", str(len(os.sched_getaffinity(0)))]
    convert = ["qemu-img", "convert", "-O", "qcow2", *compressed, str(work / "disk.raw"), str(work / "box.img")]
    image.run_logged(convert, None, work / "convert.log")
    _pack(work, draft / NAME)
    shutil.rmtree(work)
    size = (draft / NAME).stat().st_size
    if size > MOST_BYTES:
        raise UserError(
            f"{draft / NAME}: bytes={size}: must be at most {MOST_BYTES}: shorten packages/vm/lab_vm/box.pkgs"
        )
    described = {"sha256": digest_of(draft / NAME), "bytes": size, "packages": versions}
    (draft / "box.json").write_text(json.dumps(described, indent=1))


def customize_hook() -> str:
    """Build the option that lets mmdebstrap run the script `customize`.

    It holds the text and no path: mmdebstrap's own user cannot enter a home of mode 0700, Debian 13's default.
    """
    return f"--customize-hook={(HERE / 'customize').read_text()}"


def _pack(work: Path, box: Path) -> None:
    """Vagrant's libvirt format: a tar of the disk, what it is, and settings of its own."""
    metadata = {"provider": "libvirt", "format": "qcow2", "virtual_size": DISK_MB // 1024}
    (work / "metadata.json").write_text(json.dumps(metadata))
    (work / "Vagrantfile").write_text(BOX_VAGRANTFILE)
    with tarfile.open(box, "w") as tar:
        for name in ("metadata.json", "Vagrantfile", "box.img"):
            tar.add(work / name, name)


def _vagrant_key() -> str:
    """Read the public key that every new box of Vagrant's starts with."""
    for place in KEY_FOLDERS:
        for file in sorted(Path(place).glob("vagrant-*/keys/vagrant.pub")):
            return file.read_text().strip()
    raise UserError("vagrant: not installed: run 'make setup-vm'")


def _require_tools() -> None:
    for tool, package in TOOLS.items():
        if not shutil.which(tool, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"):
            raise UserError(f"{tool} ({package}): not installed: run 'make setup-vm'")


def _require_space(place: Path) -> None:
    free = shutil.disk_usage(place).free
    if free < FREE_BYTES:
        raise UserError(f"{place.parent}: free_bytes={free}: must be {FREE_BYTES} to make the box")
