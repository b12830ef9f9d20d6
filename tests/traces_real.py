# SPDX-License-Identifier: GPL-2.0-or-later
"""The real recordings that tests read; they are not part of the project.

`lab traces fetch --all` stores them in the cache. Those that it has not stored are read from a mirror of the layout
<collection>/<file>: the folder that LAB_TRACES_REAL names, else ../shared/traces-real.
"""

import os
from fnmatch import fnmatch
from pathlib import Path

import pytest

from lab.base.cache import finished
from lab.base.paths import REPO
from lab.traces.datasets import cache_folder, datasets

MIRROR = Path(os.environ.get("LAB_TRACES_REAL") or REPO / "../shared/traces-real").resolve()
FOLDER = MIRROR if MIRROR.is_dir() else cache_folder()  # for `lab traces fetch --mirror`
LICENSED = [each for each in datasets().values() if each.origin.may_be_passed_on]


def _stored(folder: Path, name: str, file: str) -> Path:
    return folder / Path(file).name if finished(folder) else MIRROR / name


RECORDINGS = {name: _stored(of.folder, name, of.file) for of in LICENSED for name in [f"{of.collection}/{of.file}"]}
DOCUMENTS = {
    name: _stored(cache_folder() / each.collection / "documents", name, document)
    for each in LICENSED
    for document in each.origin.documents
    for name in [f"{each.collection}/{document}"]
}
MISSING = sorted(name for name, file in (RECORDINGS | DOCUMENTS).items() if not file.is_file())
needs_real = pytest.mark.skipif(
    bool(MISSING),
    reason=f"{len(MISSING)} of {len(RECORDINGS | DOCUMENTS)} real files are missing, such as {MISSING[:1]}: "
    "run 'lab traces fetch --all', with --mirror DIR where there is no network",
)


def real(name: str) -> Path:
    """Return the path of a recording or document of the name `<collection>/<file>`."""
    return (RECORDINGS | DOCUMENTS)[name]


def every(pattern: str) -> list[str]:
    return sorted(name for name in RECORDINGS if fnmatch(name, pattern))
