# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab bundle use`: unpack a bundle into the cache, all of it or nothing, and nowhere else."""

import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from lab.base import paths
from lab.base.cache import publish
from lab.base.commit import commit
from lab.base.errors import UserError, field_error
from lab.base.plain_file import require_plain
from lab.images import image
from lab.kernel import build
from lab_bundle.content import IMAGES, TRACES, program_folders, recorded_digests
from lab_bundle.manifest import CONTENT, BundledFile, Manifest
from lab_bundle.read import Bundle

BLOCK_BYTES = 4096  # of a file system: what a small file takes of the disk
# Files that the lab reads outside a sandbox: they must lie in their folder, whatever links there are.
READ_HERE = {
    "kernel": ("built.json", "obj/linux"),
    "modules": ("libsearch_replay.so", "fewer_wakeups.so"),
    "world": ("root/var/lib/dpkg/status",),
    "builder": ("root/var/lib/dpkg/status",),
}
Drafts = dict[str, Path]  # by the folder's name in the cache; without those that the cache has


def use(file: Path) -> Manifest:
    """Install a bundle of this checkout; UserError where it is another one, damaged, or larger than the disk."""
    require_plain(file)
    try:
        stream = file.open("rb")
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}: must be a readable file") from None
    with stream:
        bundle = Bundle(file, stream)
        check_place(file, bundle.manifest)
        try:
            _unpack(bundle)
        except OSError as error:
            where = error.filename or paths.cache()
            raise UserError(f"{where}: {error.strerror or error}: nothing of {file} was installed") from None
    return bundle.manifest


def check_place(file: Path, manifest: Manifest) -> None:
    """Refuse a bundle of another machine or another version of the lab, and one for which the disk is too small."""
    if manifest.machine != platform.machine():
        raise field_error(file, "machine", manifest.machine, f"{platform.machine()}, as this machine is")
    for folder in _needed():
        if folder not in manifest.folders:
            kind = folder.rpartition("-")[0]
            found = next((each for each in manifest.folders if each.startswith(f"{kind}-")), "none")
            rule = f"{folder}, of this checkout ({commit() or 'unknown'}): the bundle is of {manifest.version}: "
            raise field_error(file, kind, found, f"{rule}check out that commit, or get the bundle of this one")
    recordings = {path.rpartition("/")[0] for path in recorded_digests()}
    allowed = {*_needed(), *program_folders(), *recordings}
    for folder in manifest.folders:
        if folder not in allowed or manifest.folders.count(folder) > 1:
            raise field_error(file, "folders", folder, "one of this checkout's, once")
    _require_space(file, manifest)


def _needed() -> list[str]:
    return [*(folder.name for folder in build.pinned()), *(f"{name}-{image.digest(name)}" for name in IMAGES)]


def _require_space(file: Path, manifest: Manifest) -> None:
    folder = next(each for each in (paths.cache(), *paths.cache().parents) if each.exists())
    free, needed = shutil.disk_usage(folder).free, manifest.content_bytes + BLOCK_BYTES * manifest.files
    if needed > free:
        rule = f"at least {needed / 1e6:.0f} MB for {file}: free them, or set LAB_CACHE to a folder on another disk"
        raise field_error(folder, "free_mb", round(free / 1e6), rule)


def _unpack(bundle: Bundle) -> None:
    """Fill a draft for each folder that the cache lacks; all of them are renamed when the last digest was right."""
    with ExitStack() as stack:
        drafts: Drafts = {}
        for name in bundle.manifest.folders:
            if draft := stack.enter_context(publish(paths.cache() / name)):
                drafts[name] = draft
        for member, data in bundle.members():
            if member.path == CONTENT:
                for entry, content in bundle.content(data):
                    _require_recorded(bundle.path, entry)
                    _store(entry, content, drafts)
        for name, draft in drafts.items():
            _require_files(bundle.path, name, draft)


def _require_recorded(file: Path, entry: BundledFile) -> None:
    """Refuse a recording that is not the one of datasets.yml."""
    if entry.path.startswith(f"{TRACES}/") and entry.sha256 != recorded_digests().get(entry.path):
        raise field_error(file, "path", entry.path, "a recording of trace-profiles/datasets.yml, with its checksum")


def _require_files(file: Path, name: str, draft: Path) -> None:
    program = program_folders().get(name)
    for inside in (program,) if program else READ_HERE.get(name.rpartition("-")[0], ()):
        found = draft / inside
        if not found.is_file() or not found.resolve().is_relative_to(draft.resolve()):
            raise field_error(file, "folder", name, f"one that holds {inside}")


def _store(entry: BundledFile, content: Iterator[bytes], drafts: Drafts) -> None:
    """Write an entry into its draft; one of a folder that the cache has is only checked."""
    target = _target(entry.path, drafts)
    if target is None or entry.kind == "folder":
        for _ in content:
            pass
        if target:
            target.mkdir()
    elif entry.kind == "link":
        target.symlink_to(entry.link or "")
    else:
        with open(target, "xb", opener=_no_link) as sink:
            for piece in content:
                sink.write(piece)
        target.chmod(0o755 if entry.runs else 0o644)
        os.utime(target, (entry.time_s, entry.time_s))


def _target(path: str, drafts: Drafts) -> Path | None:
    parts = path.split("/")
    for end in range(1, len(parts)):
        if draft := drafts.get("/".join(parts[:end])):
            return draft.joinpath(*parts[end:])
    return None


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o644)
