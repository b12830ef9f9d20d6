# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel tree of a stranger (--source) is built in a sandbox, and what it made leads the lab to no other file."""

from pathlib import Path

import pytest

from lab.base.errors import UserError
from lab.images import compile  # noqa: A004 (a module of the lab)
from lab.kernel import build
from lab.kernel.recipe import Recipe
from tests.whole.test_kernel_build import MERGE, builder, own_cache, tarball

FIXTURES = builder, own_cache
MADE = "which the build makes itself"
RELEASE = "obj/include/config/kernel.release"
# What the tree's own make does in each step of a build; obj/Makefile is that of the lab's modules.
STEPS = {
    "olddefconfig": "true",
    "all": "mkdir -p $(O)/include/config; echo 6.12 >$(O)/include/config/kernel.release; cp /bin/true $(O)/linux; "
    "cp modules.mk $(O)/Makefile",
    "modules_install": "mkdir -p $(INSTALL_MOD_PATH)/lib/modules/6.12",
    "modules": "true",
}


@pytest.fixture(autouse=True)
def unpatched(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Recipe, "patches", [])
    return own_cache


def tree(folder: Path, **changed: str) -> Path:
    """Pack a tree that builds nothing; `changed` is done in a step after what it does."""
    steps = {name: f"{usual}; {changed.get(name, 'true')}" for name, usual in STEPS.items()}
    modules = f"modules: ; @{steps.pop('modules')}\n"
    make = "tinyconfig: ; @touch $(O)/.config\n" + "".join(f"{name}: ; @{does}\n" for name, does in steps.items())
    return tarball(folder, {"Makefile": make, "modules.mk": modules, "scripts/kconfig/merge_config.sh": MERGE})


@pytest.mark.parametrize(
    ("step", "does", "line"),
    [
        ("olddefconfig", "ln -sf {secret} $(O)/.config", rf"obj/\.config: .*{MADE}"),
        ("olddefconfig", "rm $(O)/.config; mkfifo $(O)/.config", rf"obj/\.config: .*{MADE}"),
        ("all", "ln -sf {secret} $(O)/include/config/kernel.release", rf"{RELEASE}: .*{MADE}"),
        ("all", "echo ../../.. >$(O)/include/config/kernel.release", rf"{RELEASE}=\.\./\.\./\.\.: must be letters"),
        ("all", "ln -sf {secret} $(O)/linux", rf"obj/linux: .*{MADE}"),
        (
            "modules_install",
            "cd $(INSTALL_MOD_PATH)/lib/modules; rmdir 6.12; ln -s {folder} 6.12",
            rf"lib/modules/6\.12: .*{MADE}",
        ),
        ("modules", "ln -sfn {folder} $(M)/../lib", "lib: must not be made"),
        ("modules", "ln -sf {secret} $(M)/own.ko", rf"own\.ko: .*{MADE}"),
        ("modules", "mv $(M) $(M).away; ln -s {folder} $(M)", f"(search|startup): .*{MADE}"),
    ],
)
def test_what_a_kernel_tree_leaves_in_place_of_its_results_is_refused(
    tmp_path: Path, step: str, does: str, line: str
) -> None:
    (secret := tmp_path / "secret").write_text("a secret")
    (folder := tmp_path / "folder").mkdir()
    source = tree(tmp_path, **{step: does.format(secret=secret, folder=folder)})
    with pytest.raises(UserError, match=f"^build: {line}"):
        build.ensure(Recipe(tarball=source))
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("does", "line"),
    [
        ("sleep 1000", "make all: no end after 3 s"),
        ("(sleep 1000 &) >/dev/null 2>&1 </dev/null; exec sleep 1000 >/dev/null 2>&1", "make all: no end after 3 s"),
        ("yes | tr -d '\\n'", "make all: more than 100000 characters of output"),
        ("perl -e '$$all = 1 x 2e8'", "make all: make: .*Error 12"),
        ("dd if=/dev/zero of=$(O)/large bs=1M count=200 2>/dev/null", "make all: .*(File size limit|Error 153)"),
        ("printf '\\377\\n'; false", "make all: make: .*Error 1"),
    ],
    ids=["no end", "no end without a word", "a line without end", "memory", "a large file", "no text"],
)
def test_the_build_of_a_kernel_tree_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, line: str
) -> None:
    bounds = {"MOST_S": 3, "MOST_OUTPUT_CHARS": 100_000, "MEMORY_BYTES": 100 << 20, "FILE_BYTES": 100 << 20}
    for name, value in bounds.items():
        monkeypatch.setattr(compile, name, value)
    with pytest.raises(UserError, match=f"^build: {line}"):
        build.ensure(Recipe(tarball=tree(tmp_path, all=does)))


def test_a_kernel_tree_decides_nothing_of_what_the_lab_itself_loads(tmp_path: Path) -> None:
    (canary := tmp_path / "canary").write_text("as it was")
    canary.chmod(0o666)
    spoil = "cd $(M)/..; echo evil >libsearch_replay.so; echo evil >search/Makefile; "
    link = f"for each in fewer_wakeups.c fewer_wakeups.so libstartup.so; do ln -sf {canary} $$each; done"
    kernel = build.ensure(Recipe(tarball=tree(tmp_path, modules=spoil + link)))
    for library in (kernel.replay_library, kernel.preload, kernel.preload.with_name("libstartup.so")):
        assert not library.is_symlink()
        assert library.read_bytes().startswith(b"\x7fELF")
    assert canary.read_text() == "as it was"
