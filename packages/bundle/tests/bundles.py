# SPDX-License-Identifier: GPL-2.0-or-later
"""Small caches that a bundle is made of, and bundles that no honest program writes."""

import hashlib
import io
import json
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab_bundle.content import IMAGES, programs_of
from lab_bundle.manifest import CONTENT, LIST, MANIFEST, BundledFile, Manifest
from lab_bundle.stream import END, compress, header, padding
from pydantic import ValidationError

from lab.images import image
from lab.kernel import build

KERNEL_FILES = {
    "built.json": json.dumps({"source": "linux", "release": "6.12"}),
    "obj/linux": "a program",
    "obj/.config": "CONFIG_UML=y\n",
    "obj/net/core.o": "an object",
    "src/include/linux/tcp.h": "#define TCP\n",
    "src/net/ipv4/tcp_input.c": "its source",
    "lib/modules/6.12/kernel/sch_pie.ko": "a module",
}
MODULES_FILES = {
    "libsearch_replay.so": "a library",
    "fewer_wakeups.so": "a library",
    "search/tcp_search.o": "an object",
}
STATUS = "root/var/lib/dpkg/status"
Content = list[tuple[BundledFile, bytes]]


def fill_cache(cache: Path) -> None:
    """Write what the lab would have built with the pinned packages, some bytes of each."""
    kernel, modules = (cache / folder.name for folder in build.pinned())
    _write(kernel, KERNEL_FILES)
    (kernel / "obj/linux").chmod(0o750)
    (kernel / "obj/source").symlink_to("/build/src")
    _write(modules, MODULES_FILES)
    for name in IMAGES:
        folder = cache / f"{name}-{image.digest(name)}"
        _write(folder, {STATUS: _status(name), "root/etc/resolv.conf": "nameserver 192.0.2.1\n"})
        _write(folder, {"root/usr/bin/mawk": "a program", "root/usr/src/linux.tar.xz": "the kernel's source"})
        (folder / "root/bin").symlink_to("usr/bin")
        (folder / "root/usr/bin/awk").symlink_to("/usr/bin/mawk")


def fill_programs(cache: Path) -> None:
    """Write what the lab would have built of each program of a package."""
    for each in (each for part in programs_of().values() for each in part):
        program = cache / each.pinned().program.parent.name / each.program
        _write(program.parent, {each.program: "a program", "licences/one": "a licence"})
        program.chmod(0o755)


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in {**files, ".complete": ""}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def _status(name: str) -> str:
    stanza = "Package: {}\nStatus: install ok installed\nVersion: {}\n"
    return "\n".join(stanza.format(package, version) for package, version in image.locked(name).items())


def whole_content() -> Content:
    """Return the least content that `lab bundle use` accepts."""
    files = {build.pinned()[0].name: ["built.json", "obj/linux"]}
    files[build.pinned()[1].name] = ["libsearch_replay.so", "fewer_wakeups.so"]
    files |= {f"{name}-{image.digest(name)}": [STATUS] for name in IMAGES}
    return [one for folder, names in files.items() for name in names for one in with_parents(f"{folder}/{name}")]


def with_parents(path: str, data: bytes = b"x") -> Content:
    """Return a file's entry, after those of its folders."""
    parts = path.split("/")
    above = ["/".join(parts[:end]) for end in range(2, len(parts))]
    return [*((BundledFile(path=one, kind="folder"), b"") for one in above), (file_entry(path, data), data)]


def file_entry(path: str, data: bytes, **changes: Any) -> BundledFile:
    facts = {"path": path, "kind": "file", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return BundledFile(**{**facts, **changes})


def write_bundle(file: Path, content: Content, listed: list[dict[str, Any]] | None = None, **changes: Any) -> Path:
    """Write a bundle whose digests are right, with a content and a list that need not be; `changes` of its manifest."""
    rows = [entry.model_dump(exclude_defaults=True) for entry, _ in content] if listed is None else listed
    text = json.dumps(rows).encode()
    packed = io.BytesIO()
    compress(_tar([(file_entry(LIST, text), text), *content]), packed)
    data = packed.getvalue()
    manifest = {
        "format": 1,
        "version": "0123456789ab",
        "machine": platform.machine(),
        "python": None,
        "folders": list(dict.fromkeys(entry.path.split("/")[0] for entry, _ in whole_content())),
        "files": len(content),
        "content_bytes": sum(len(one) for _, one in content),
        "list_bytes": len(text),
        "list_sha256": hashlib.sha256(text).hexdigest(),
        "members": [{"path": CONTENT, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}],
    }
    try:
        head = Manifest(**{**manifest, **changes}).sealed.text
    except ValidationError:
        head = json.dumps({**manifest, **changes}).encode()
    file.write_bytes(b"".join(_tar([(file_entry(MANIFEST, head), head), (file_entry(CONTENT, data), data)])))
    return file


def _tar(members: Content) -> Iterator[bytes]:
    for entry, data in members:
        yield header(entry) + data + padding(len(data))
    yield END


def everything_below(folder: Path) -> set[str]:
    """Return the names of all files below a folder but locks, which stay."""
    found = (os.path.join(top, name) for top, _, names in os.walk(folder) for name in names)  # noqa: PTH118
    return {os.path.relpath(one, folder) for one in found if not one.endswith((".lock", ".use", "CACHEDIR.TAG"))}
