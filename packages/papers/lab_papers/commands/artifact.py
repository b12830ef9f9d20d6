# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab artifact`: everything for a deposit, from the stored runs."""

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path

from lab.base import paths
from lab.base.commit import commit, git
from lab.base.errors import UserError, field_error
from lab.base.plain_file import content_of, require_plain, write_whole
from lab.tables.digests import write_digests
from lab_papers.artifact import documents, facts
from lab_papers.commands.verify import claims_of

OWN = ("COPYING", "CITATION.cff")
BUNDLE = "search-lab.bundle"
NAMES = {"ARTIFACT.md", "appendix.tex", "SHA256SUMS", BUNDLE, *OWN}


def write_deposit(folder: Path, texts: dict[str, str], commit: str, bundle: Path | None) -> list[Path]:
    """Fill the folder again; UserError where it holds something else, or the checkout is no commit."""
    if commit.endswith("-dirty") or commit == "unknown":
        raise field_error("lab artifact", "commit", commit, "a commit: commit what differs, then run it again")
    source = f"search-lab-{commit}.tar.gz"
    _require_ours(folder)
    if bundle is not None:
        require_plain(bundle)
        if not bundle.exists():
            raise UserError(f"{bundle}: No such file: must be a bundle: lab bundle make")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("search-lab-*.tar.gz"):
        old.unlink()
    for name, text in texts.items():
        write_whole(folder / name, text)
    for name in OWN:
        shutil.copyfile(paths.REPO / name, folder / name)
    write_whole(folder / source, _source(f"search-lab-{commit}/"))
    if bundle is not None and bundle.resolve() != (folder / BUNDLE).resolve():
        shutil.copyfile(bundle, folder / BUNDLE)
    write_digests(folder)
    return sorted(folder.iterdir())


def _require_ours(folder: Path) -> None:
    if folder.exists():
        for found in content_of(folder):
            if found.name not in NAMES and not (found.name.startswith("search-lab-") and found.suffix == ".gz"):
                raise field_error("lab artifact", "out", found, "in a folder that holds only an artifact")


def _source(prefix: str) -> bytes:
    """Return the source of the commit, with the same bytes each time."""
    done = git("archive", "--format=tar", f"--prefix={prefix}", "HEAD")
    if done.returncode or not done.stdout:
        why = done.stderr.decode(errors="replace").strip() or "no output"
        raise UserError(f"git archive: {why}: must be a checkout")
    return gzip.compress(done.stdout, mtime=0)


def write(bundle: Path | None, folder: Path) -> Iterator[str]:
    """Write the folder, and yield a line for each file, then what is missing."""
    version = commit() or "unknown"
    claims, _, faults = claims_of(paths.results(), [])
    lines = facts.lines(paths.results(), claims)
    texts = {"ARTIFACT.md": documents.markdown(lines, version), "appendix.tex": documents.appendix(lines, version)}
    for file in write_deposit(folder, texts, version, bundle):
        yield f"{file.stat().st_size / 1e6:9.1f} MB  {file}"
    unmeasured = [line.claim.name for line in lines if line.cost.compute_min is None]
    if unmeasured:
        which = ", ".join(unmeasured) if len(unmeasured) < len(lines) else f"all {len(lines)} claims"
        yield f"not measured: {which}: their runs are not stored whole: make reproduce"
    if not (folder / "search-lab.bundle").exists():
        yield "no bundle: lab bundle make FILE --with recordings,wheels, then make artifact BUNDLE=FILE"
    yield from faults
