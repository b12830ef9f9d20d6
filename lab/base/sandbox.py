# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands in a root folder of the lab, with bubblewrap: they see and may write only what is bound."""

import os
import shutil
import sys
from pathlib import Path

from lab.base import enter, paths, seccomp
from lab.base.errors import UserError
from lab.base.host_tool import ended, run_tool

NOBODY = 65534
NAMESPACES = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]

LIFE = ["--die-with-parent", "--new-session", "--clearenv"]
TMP_BYTES, FEW_BYTES = 1 << 30, 1 << 20
PROCESSES = Path("/proc/self/ns/pid")
CHOWN_S = 600.0  # of a kernel's tree, on a slow disk
MOST_PROCESSES = 500  # of a virtual kernel: each program of its guest is one
# Process 1 is bubblewrap's own, which ends the others: an ordinary user's programs could write its memory.
CLOSED = f"--remount-ro /dev --size {FEW_BYTES} --tmpfs /proc/1 --remount-ro /proc/1".split()
VIEWS = ["--dev", "/dev", "--proc", "/proc", *CLOSED]  # refused in some containers that allow namespaces
MOUNTS = [*VIEWS, *f"--size {TMP_BYTES} --perms 1777 --tmpfs /tmp --size {FEW_BYTES} --tmpfs /lab".split()]
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LC_ALL": "C.UTF-8"}


def command(
    root: Path,
    argv: list[str],
    *,
    read_only: dict[Path, str] | None = None,
    writable: dict[Path, str] | None = None,
    folder: str = "/",
    environment: dict[str, str] | None = None,
    calls: str = enter.BUILD,
) -> list[str]:
    """Build a command that runs with `root` as its read-only root, and may make the system calls of enter.FILTERS.

    Binds map a host path to one below /lab or /tmp, or to a mount point of the image. Run as root, the command drops
    to uid 65534 inside; everything it may write must then be writable by that user.
    """
    if seccomp.missing():
        raise UserError("sandbox: libseccomp2: not installed: run 'make setup'")
    options = [*NAMESPACES, *LIFE, "--ro-bind", str(root), "/", *MOUNTS, "--chdir", folder]
    for option, binds in (("--ro-bind", read_only), ("--bind", writable)):
        for host, inside in (binds or {}).items():
            options += [option, str(host), inside]
    for name, value in (ENVIRONMENT | (environment or {})).items():
        options += ["--setenv", name, value]
    python = [sys.executable, "-S", "-P", "-m", "lab.base.enter", calls]
    return ["env", f"PYTHONPATH={paths.REPO}", *python, *options, *_dropped(calls), *argv]


def _dropped(calls: str) -> list[str]:
    """Return options for the rights to mount: a user namespace gives them; root drops them again inside.

    The system counts the processes of a user namespace apart; root's sandboxes are all of one user.
    """
    if os.geteuid() != 0:
        few = ["prlimit", f"--nproc={MOST_PROCESSES}"] if calls in enter.KERNELS else []
        return ["--unshare-user", "--", *few]
    rights = "--cap-add CAP_SETUID --cap-add CAP_SETGID --".split()
    return [*rights, *f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups --inh-caps=-all".split()]


def own_tree(folder: Path) -> None:
    """Make the user of sandboxed commands the owner of a folder and its content."""
    if os.geteuid() == 0 and folder.stat().st_uid != NOBODY:
        _chown(folder, NOBODY)


def disown_tree(folder: Path) -> None:
    """Make this user the owner of a folder and its content again."""
    if os.geteuid() == 0:
        _chown(folder, 0)


def _chown(folder: Path, uid: int) -> None:
    """Change the owner of all that a folder holds, at any depth: a stranger may have left it. No link is followed."""
    change = ["chown", "--recursive", "--no-dereference", f"{uid}:{uid}", "--", str(folder)]
    done = ended(run_tool(*change, limit_s=CHOWN_S))
    if done.returncode:
        raise UserError(f"{folder}: {done.stderr.decode(errors='replace').strip()}")


def why_not() -> str | None:
    """Return the reason why sandboxes do not work on this machine, or None."""
    if not shutil.which("bwrap"):
        return "bwrap: not installed"
    user = ["--unshare-user"] if os.geteuid() else []
    inside = ["--ro-bind", "/", "/", *VIEWS, "readlink", str(PROCESSES)]
    done = run_tool("bwrap", "--die-with-parent", *NAMESPACES, *user, *inside)
    if done.returncode:
        return done.stderr.decode(errors="replace").strip() or f"exit status {done.returncode}"
    own = done.stdout.startswith(b"pid:[") and done.stdout.strip() != bytes(PROCESSES.readlink())
    return None if own else "bwrap: gives a command no processes of its own"


def require(advice: str = "run 'lab doctor'") -> None:
    """Raise UserError if sandboxes do not work on this machine."""
    reason = why_not()
    if reason:
        raise UserError(f"sandbox: {reason}: {advice}")
