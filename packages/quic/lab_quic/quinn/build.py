# SPDX-License-Identifier: GPL-2.0-or-later
"""Build the QUIC sender in a root folder of its own (image quic-build), cached by a digest of all that goes into it.

Nothing else of the lab needs Rust. The image and the crates are fetched when a QUIC sender is first used.
"""

import shutil
from pathlib import Path

from lab.base import paths
from lab.images import image
from lab.images.compile import Compile
from lab.kernel.build import digest_of_files
from lab.kernel.program import LICENCES, Buildable, Program, Progress
from lab_quic.quinn import crates

HERE = Path(__file__).parent
IMAGE = "quic-build"
COMPILER_PACKAGES = ("rustc", "cargo", "libstd-rust-dev", "gcc", "gcc-14", "binutils", "libc6-dev")
SEARCH, STARTUP, OURS = paths.LAB / "kernel" / "search", paths.LAB / "kernel" / "startup", HERE / "cores"
PROGRAM = "lab-quic"
TARGET = "x86_64-unknown-linux-gnu"
# As lab/kernel/search/Makefile compiles them for user space.
CFLAGS = "-std=gnu11 -O2 -Wall -Wextra -Werror -ffreestanding -fno-strict-aliasing -fno-tree-loop-distribute-patterns"
# Static: any root folder runs it. The array of SEARCH's versions is made of sections that nothing else names.
RUSTFLAGS = "-L native=/build/core -C target-feature=+crt-static -C link-arg=-Wl,-z,nostart-stop-gc"


def _prepared(progress: Progress) -> Path:
    progress("fetching the crates of the QUIC sender")
    crates.fetch()
    progress("making the image that builds the QUIC sender")
    root = image.ensure(IMAGE).root
    progress("building the QUIC sender")
    return root


def _core_files() -> list[Path]:
    """List the C files of the cores: SEARCH in all versions, as its Makefile takes them, the others, and their form."""
    names = ["search_replay", "search_core", "search_compare", "search_params", "search_compact", "hystartpp_core"]
    startup = ["rapid_start", "careful_resume", "bbr3", "bbr3_model", "bbr3_probe"]
    return [
        *(SEARCH / f"{name}.c" for name in names),
        *sorted(SEARCH.glob("tcp_search*.c")),
        *(STARTUP / f"{name}_core.c" for name in startup),
        *sorted(OURS.glob("*.c")),
    ]


def pinned() -> Program:
    """Return the program of the present sources, built or not."""
    rust = [HERE / "Cargo.toml", crates.LOCK, *sorted((HERE / "src").iterdir()), *_patches()]
    pins = image.locked(IMAGE)
    compilers = [f"{package} {pins[package]}" for package in COMPILER_PACKAGES]
    digest = digest_of_files([*rust, *_core_files(), *_headers()], CFLAGS, RUSTFLAGS, *compilers)
    return Program(paths.cache() / f"quic-{digest}" / PROGRAM, digest)


def _headers() -> list[Path]:
    return [
        *sorted(SEARCH.glob("*.h")),
        *sorted(STARTUP.glob("*_core.h")),
        STARTUP / "bbr3_parts.h",
        *sorted(OURS.glob("*.h")),
    ]


def _patches() -> list[Path]:
    return sorted((HERE / "patches").iterdir())


def _build(root: Path, draft: Path) -> None:
    compile_ = Compile(root, draft, lambda _steps: None)
    shutil.copytree(HERE / "src", draft / "src")
    for file in (HERE / "Cargo.toml", crates.LOCK):
        shutil.copy(file, draft)
    (draft / "core").mkdir()
    for file in (*_core_files(), *_headers()):
        shutil.copy(file, draft / "core")
    crates.unpack(draft / "vendor")
    for patch in _patches():
        bound, (of,) = f"/lab/{patch.name}", (draft / "vendor").glob(f"{patch.stem}-[0-9]*")
        argv = ["patch", "-s", "-p1", "-d", f"vendor/{of.name}", "-i", bound]
        compile_.run(*argv, read_only={patch: bound}, words=f"patch {patch.name}")
    objects = f"cd core && gcc {CFLAGS} -c {' '.join(file.name for file in _core_files())} && ar rcs libcores.a *.o"
    compile_.run("sh", "-c", objects, words="the cores for the QUIC sender")
    compile_.run("sh", "-c", _cargo(), words="cargo build")
    shutil.copy(draft / "target" / TARGET / "release" / PROGRAM, draft)
    _keep_licences(draft)
    for path in list(draft.iterdir()):
        if path.name not in (PROGRAM, LICENCES):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _keep_licences(draft: Path) -> None:
    """Keep the licence texts of what is linked into the program, by crate: who passes it on must pass them on too."""
    for text in sorted((draft / "vendor").glob("*/LICENSE*")):
        if text.is_file():
            place = draft / LICENCES / text.parent.name
            place.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(text, place / text.name)


def _cargo() -> str:
    source = "--config 'source.crates-io.replace-with=\"locked\"' --config 'source.locked.directory=\"/build/vendor\"'"
    variables = f"CARGO_HOME=/build/home SOURCE_DATE_EPOCH=0 RUSTFLAGS='{RUSTFLAGS}'"
    return f"{variables} cargo build --release --offline --locked --target {TARGET} {source}"


QUINN = Buildable(
    PROGRAM,
    "packages/quic/lab_quic/quinn/, on the crates of its Cargo.lock (quinn: MIT or Apache-2.0)",
    pinned,
    _prepared,
    _build,
)
