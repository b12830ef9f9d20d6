# SPDX-License-Identifier: GPL-2.0-or-later
"""Making a root folder with mmdebstrap, once for each digest of its package list and lock."""

import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lab.base import paths
from lab.base.cache import ensured, finished, use
from lab.base.entry_points import loaded
from lab.base.errors import UserError, field_error
from lab.base.named_files import shown
from lab.base.processes import ENDING_WITH_THIS
from lab.base.scratch import scratch_folder
from lab.images import archive, copyright_files

SUITE = "trixie"
STATED_SUITE = "# Suite: "  # a line of a package list that is not of SUITE
BACKPORTS = "-backports"
HERE = Path(__file__).parent
OPTIONS = [
    "--variant=apt",
    "--aptopt=APT::Install-Recommends false",
    "--dpkgopt=path-exclude=/usr/share/doc/*",
    "--dpkgopt=path-include=/usr/share/doc/*/copyright",  # copyright_files.py moves them out
    "--dpkgopt=path-exclude=/usr/share/man/*",
    "--dpkgopt=path-exclude=/usr/share/locale/*",
]
MOUNT_POINTS = ("trial", "lab", "build", "usr/lib/modules")


@dataclass(frozen=True)
class Image:
    """A root folder, and what it holds."""

    root: Path
    digest: str
    versions: dict[str, str]  # every package
    drifted: dict[str, str]  # package -> "pinned -> installed", where the archive no longer holds the pin


def listed(name: str) -> list[str]:
    """Read a package list."""
    lines = list_file(name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def list_file(name: str) -> Path:
    """Return an image's package list: the core's, or that of a package (entry points of the group `lab.images`)."""
    folder: Path = loaded("lab.images").get(name, HERE)
    return folder / f"{name}.pkgs"


def lock_file(name: str) -> Path:
    """Return where an image's pins are written."""
    return list_file(name).with_suffix(".lock")


def locked(name: str) -> dict[str, str]:
    """Read the pinned version of every package an image held when it was locked."""
    lines = lock_file(name).read_text().splitlines() if lock_file(name).exists() else []
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def names() -> list[str]:
    """List all images: each has a package list."""
    return sorted([*(file.stem for file in HERE.glob("*.pkgs")), *loaded("lab.images")])


def suite(name: str) -> str:
    """Name the Debian release of an image: what its package list states, or SUITE."""
    lines = list_file(name).read_text().splitlines()
    return next((line.removeprefix(STATED_SUITE) for line in lines if line.startswith(STATED_SUITE)), SUITE)


def digest(name: str) -> str:
    """Digest of everything an image is made from."""
    content = repr((suite(name), OPTIONS, MOUNT_POINTS, listed(name), sorted(locked(name).items())))
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def find(name: str) -> Image | None:
    """Return a cached image."""
    folder = paths.cache() / f"{name}-{digest(name)}"
    if finished(folder):
        use(folder)
    return _described(name, folder) if finished(folder) else None


def pinned(name: str) -> Image:
    """Return an image as its lock states it, cached or not."""
    return Image(paths.cache() / f"{name}-{digest(name)}" / "root", digest(name), locked(name), {})


def ensure(name: str) -> Image:
    """Return a cached image, or make it."""
    folder = ensured(paths.cache() / f"{name}-{digest(name)}", lambda draft: _make(name, draft / "root"))
    return _described(name, folder)


def _make(name: str, root: Path) -> None:
    """Install the packages below `root`.

    The invoking user unpacks mmdebstrap's tar, so that every mode of mmdebstrap gives the same tree.
    """
    scratch = root.parent / "scratch"
    scratch.mkdir()
    tar = scratch / "root.tar"
    make_tar(name, tar)
    root.mkdir()
    unpack = ["tar", "-x", "-f", str(tar), "-C", str(root), "--no-same-owner", "--exclude=./dev/*"]
    run_logged(unpack, None, scratch / "tar.log")
    require_pinned(name, installed((root / "var/lib/dpkg/status").read_text()))
    shutil.rmtree(scratch)
    copyright_files.take(root)
    for point in MOUNT_POINTS:
        (root / point).mkdir(parents=True, exist_ok=True)


def make_tar(name: str, tar: Path, *more: str) -> None:
    """Let mmdebstrap install an image's packages, as pinned; `more`: further options. Logs lie in the same folder."""
    if not shutil.which("mmdebstrap"):
        raise UserError("mmdebstrap: not installed: run 'make setup'")
    pins = tar.with_name("pins")
    pins.write_text("".join(_pin(package, version) for package, version in locked(name).items()))
    include = f"--include={','.join(listed(name))}"
    sources = archive.sources(release(suite(name)))
    alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]  # in namespaces of its own
    argv = [
        *ENDING_WITH_THIS,
        *(alone if os.geteuid() == 0 else []),
        "mmdebstrap",
        *OPTIONS,
        pins_hook(pins),
        *backports_hook(suite(name)),
        include,
        *more,
        release(suite(name)),
        str(tar),
        *(["-"] if sources else []),
    ]
    with scratch_folder() as folder:  # where mmdebstrap unpacks: `lab clean` finds that of a killed one
        for enterable in (folder, folder.parent):  # for mmdebstrap's own user
            enterable.chmod(0o711)
        try:
            run_logged(argv, sources, tar.with_name("mmdebstrap.log"), {"TMPDIR": str(folder)})
        except UserError as error:
            raise dropped(name, str(error)) or error from None


def dropped(name: str, message: str) -> UserError | None:
    """Name the package of an image that Debian's archive no longer has, if that is what apt reports."""
    found = re.search(r"Unable to locate package (\S+)", message)
    rule = f"a package of Debian's {suite(name)}, whose archive does not have it"
    return field_error(shown(list_file(name)), "package", found[1], rule) if found else None


def pins_hook(pins: Path) -> str:
    """Build the option that lets mmdebstrap copy the pins, whatever characters their path has.

    `upload` reads the file as the invoking user: mmdebstrap's own user cannot enter a home of mode 0700, Debian 13's
    default. Its arguments are split as by a shell, which does not run.
    """
    return f"--setup-hook=upload {shlex.quote(str(pins))} /etc/apt/preferences.d/lab"


def release(suite: str) -> str:
    """Name the release that a suite belongs to: backports are packages on top of one."""
    return suite.removesuffix(BACKPORTS)


def backports_hook(suite: str) -> list[str]:
    """Build the option that adds the backports of a release, from wherever mmdebstrap takes the release itself."""
    if not suite.endswith(BACKPORTS):
        return []
    line = f"s/ {release(suite)} main$/ {suite} main/p"
    apt = '"$1"/etc/apt/sources.list'
    return [f"--setup-hook=sed -n '{line}' {apt} >{apt}.d/backports.list"]


def _pin(package: str, version: str) -> str:
    return f"Package: {package}\nPin: version {version}\nPin-Priority: 1001\n\n"


def run_logged(argv: list[str], stdin: str | None, log: Path, environment: dict[str, str] | None = None) -> None:
    """Run a tool with its output in a log; UserError with the first error in it where the tool fails."""
    pipe = subprocess.PIPE
    with (
        log.open("w") as stream,
        subprocess.Popen(  # in a group of its own: mmdebstrap sends SIGHUP to its whole group where the disk is full
            argv,
            stdin=subprocess.DEVNULL if stdin is None else pipe,
            stdout=stream,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | (environment or {}),
            process_group=0,
        ) as process,
    ):
        try:
            process.communicate(stdin)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode:
        errors = [
            line for line in log.read_text().splitlines() if line.startswith("E:")
        ] or log.read_text().splitlines()
        kept = paths.cache() / log.name
        shutil.copy(log, kept)
        raise UserError(f"{log.stem}: {errors[0] if errors else 'failed'} (log: {kept})")


def _described(name: str, folder: Path) -> Image:
    versions = installed((folder / "root/var/lib/dpkg/status").read_text())
    return Image(folder / "root", digest(name), versions, drifted(name, versions))


def drifted(name: str, versions: dict[str, str]) -> dict[str, str]:
    """List the packages that are not as they were pinned."""
    pins = locked(name)
    return {
        package: f"{pins[package]} -> {version}"
        for package, version in versions.items()
        if package in pins and pins[package] != version
    }


def require_pinned(name: str, versions: dict[str, str]) -> None:
    """Refuse packages that are not as they were pinned, unless LAB_DRIFT=1 accepts them; the run records them."""
    found = drifted(name, versions)
    if found and os.environ.get("LAB_DRIFT") != "1":
        package, drift = next(iter(found.items()))
        rule = "the pinned version, which the archive no longer has: LAB_DRIFT=1 accepts what it has"
        raise field_error(f"{shown(lock_file(name))} ({len(found)} packages differ)", package, drift, rule)


def installed(dpkg_status: str) -> dict[str, str]:
    """Read dpkg's own record."""
    versions: dict[str, str] = {}
    for stanza in dpkg_status.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in stanza.splitlines() if ": " in line and not line.startswith(" "))
        if fields.get("Status") == "install ok installed":
            versions[fields["Package"]] = fields["Version"]
    return versions
