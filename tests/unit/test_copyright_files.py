# SPDX-License-Identifier: GPL-2.0-or-later
"""An image's copyright files lie beside its root folder, in which no document stays."""

from pathlib import Path

from lab.images import copyright_files


def test_each_packages_own_file_is_kept_once_and_the_root_has_none(tmp_path: Path) -> None:
    docs = tmp_path / "root" / copyright_files.DOCS
    (docs / "gcc-14-base").mkdir(parents=True)
    (docs / "gcc-14-base/copyright").write_text("GPL-3+")
    (docs / "gcc-14-base/README").write_text("a document")
    (docs / "libgcc-s1").symlink_to("gcc-14-base")
    (docs / "tzdata").mkdir()
    (docs / "tzdata/copyright").write_text("public domain")
    (docs / "stranger").mkdir()
    (docs / "stranger/copyright").symlink_to("/etc/passwd")

    copyright_files.take(tmp_path / "root")

    kept = {file.name: file.read_text() for file in (tmp_path / copyright_files.FOLDER).iterdir()}
    assert kept == {"gcc-14-base.copyright": "GPL-3+", "tzdata.copyright": "public domain"}
    assert list(docs.iterdir()) == []
