# SPDX-License-Identifier: GPL-2.0-or-later
"""Build lab-ngtcp2 in a root folder of its own (image ngtcp2-build), cached by a digest of all that goes into it.

ngtcp2 is linked into the program. GnuTLS is the world's, which has it as dumpcap's and Python's packages need it.
"""

import shutil
from pathlib import Path

from lab.base import paths
from lab.images import copyright_files, image
from lab.images.compile import Compile
from lab.kernel.build import digest_of_files
from lab.kernel.program import LICENCES, Buildable, Program, Progress

SOURCES = Path(__file__).with_name("src")
IMAGE = "ngtcp2-build"
PROGRAM = "lab-ngtcp2"
LINKED = ("libngtcp2-dev", "libngtcp2-crypto-gnutls-dev")
PINNED = (*LINKED, "libgnutls28-dev", "gcc-14", "binutils", "libc6-dev")
CFLAGS = "-std=gnu11 -O2 -Wall -Wextra -Werror -s"
LIBRARIES = "-l:libngtcp2_crypto_gnutls.a -l:libngtcp2.a -lgnutls"


def pinned() -> Program:
    """Return the program of the present sources, built or not."""
    pins = image.locked(IMAGE)
    versions = [f"{package} {pins[package]}" for package in PINNED]
    digest = digest_of_files(sorted(SOURCES.iterdir()), CFLAGS, LIBRARIES, *versions)
    return Program(paths.cache() / f"ngtcp2-{digest}" / PROGRAM, digest)


def _prepared(progress: Progress) -> Path:
    progress("making the image that builds the QUIC sender on ngtcp2")
    root = image.ensure(IMAGE).root
    progress("building the QUIC sender on ngtcp2")
    return root


def _build(root: Path, draft: Path) -> None:
    shutil.copytree(SOURCES, draft / "src")
    compile_ = Compile(root, draft, lambda _steps: None)
    compile_.run("sh", "-c", f"gcc {CFLAGS} -o {PROGRAM} src/*.c {LIBRARIES}", words=PROGRAM)
    shutil.rmtree(draft / "src")
    (draft / LICENCES).mkdir()
    for package in LINKED:
        shutil.copy(root.parent / copyright_files.FOLDER / f"{package}.copyright", draft / LICENCES)


NGTCP2 = Buildable(
    PROGRAM,
    "packages/quic/lab_quic/ngtcp2/, on Debian's libngtcp2 (MIT) and GnuTLS (LGPL-2.1-or-later)",
    pinned,
    _prepared,
    _build,
)
