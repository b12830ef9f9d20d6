# SPDX-License-Identifier: GPL-2.0-or-later
"""Build SEARCH as BPF with the pinned clang of image bpf-build, cached by a digest of all that goes into it."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lab.base import paths, sandbox
from lab.base.cache import ensured, finished, use
from lab.base.errors import COMMAND_LINE, UserError, field_error
from lab.images import image
from lab.images.compile import Compile
from lab.kernel.build import digest_of_files

HERE = Path(__file__).parent
CORE = paths.LAB / "kernel" / "search"
IMAGE = "bpf-build"
PACKAGES = ("clang", "clang-19", "libbpf-dev", "linux-libc-dev")
CLANG, BPFTOOL, LOADER = "usr/bin/clang", "usr/sbin/bpftool", "usr/lib64/ld-linux-x86-64.so.2"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
OBJECT = "search.bpf.o"
# Versions whose hooks are those of search.bpf.c: no drain, no state in the socket, no habits around CUBIC's epochs.
VERSIONS = ("search", "search1", "search2_printed", "search9", "search9_printed")
# A struct with counts[] lies within another one, and BPF_PROG gives each hook a context that it may not need.
FLAGS = (
    "--target=bpf -mcpu=v3 -std=gnu11 -O2 -g -ffreestanding -Wall -Wextra -Werror -Wno-unused-parameter "
    "-Wno-gnu-variable-sized-type-not-at-end -D__TARGET_ARCH_x86 "
    "-idirafter /usr/include/x86_64-linux-gnu -I. -Icore"
)
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Built:
    """The program for one version of SEARCH, and the tool that loads it."""

    program: Path
    bpftool: list[str]


def ensure(version: str = "search", progress: Progress = lambda _what: None) -> Built:
    """Return the program of a version; make the image and build what the cache does not have."""
    if version not in VERSIONS:
        raise field_error(COMMAND_LINE, "version", version, f"one of {', '.join(VERSIONS)}")
    folder = paths.cache() / f"bpf-{_digest(version)}"
    if not image.find(IMAGE):
        progress("making the image with clang and bpftool")
    root = require_tools(image.ensure(IMAGE).root)
    if not finished(folder):
        sandbox.require()
        ensured(folder, lambda draft: _build(Compile(root, draft, lambda _steps: None), draft, version))
    use(folder)
    return Built(folder / OBJECT, bpftool(root))


def bpftool(root: Path) -> list[str]:
    """Return the command of an image's bpftool, on whatever system this is."""
    return [str(root / LOADER), "--library-path", str(root / LIBRARIES), str(root / BPFTOOL)]


def require_tools(root: Path) -> Path:
    """Return the root of the image; UserError where a tool is not in it."""
    for tool in (CLANG, BPFTOOL):
        if not (root / tool).exists():
            raise UserError(f"{root / tool}: must be there: remove {root.parent}, and run again")
    return root


def _files() -> list[Path]:
    """List what the program is made of: its own files, and SEARCH's core with the versions' parameters."""
    names = ("search_core.c", "search_compare.c", "search_params.c")
    versions = (CORE / f"tcp_{version}.c" for version in VERSIONS)
    return [*sorted(HERE.glob("search*.[ch]")), *(CORE / name for name in names), *versions, *sorted(CORE.glob("*.h"))]


def _digest(version: str) -> str:
    pins = image.locked(IMAGE)
    return digest_of_files(_files(), FLAGS, version, *(f"{name} {pins.get(name)}" for name in PACKAGES))


def _build(compile_: Compile, draft: Path, version: str) -> None:
    (draft / "core").mkdir()
    for file in _files():
        shutil.copy(file, draft if file.parent == HERE else draft / "core")
    defines = f"-DSEARCH_BPF_VERSION='\"tcp_{version}.c\"'"
    compile_.run("sh", "-c", f"clang {FLAGS} {defines} -c search.bpf.c -o {OBJECT}", words="clang: search.bpf.c")
    for path in list(draft.iterdir()):
        if path.name != OBJECT:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
