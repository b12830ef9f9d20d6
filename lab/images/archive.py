# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian archive of the packages: LAB_DEBIAN_MIRROR, this machine's own, or mmdebstrap's default."""

import os

from lab.base.host_tool import run_tool


def _configured() -> dict[str, str]:
    """Return the archive and the security archive of this machine's apt, if it is a Debian."""
    words = ["apt-get", "indextargets", "--format", "$(LABEL)|$(SITE)|$(REPO_URI)", "Created-By: Packages"]
    done, found = run_tool(*words), dict[str, str]()
    for line in [] if done.returncode else done.stdout.decode(errors="replace").splitlines():
        label, _, uri = line.split("|", 2)
        found.setdefault(label, uri.rstrip("/"))
    return found


def _mirrors() -> tuple[str, str | None] | None:
    chosen = os.environ.get("LAB_DEBIAN_MIRROR")
    if chosen:
        return chosen.rstrip("/"), None
    configured = _configured()
    return (configured["Debian"], configured.get("Debian-Security")) if "Debian" in configured else None


def sources(suite: str) -> str | None:
    """Return sources.list lines for mmdebstrap's standard input, or None for its default."""
    mirrors = _mirrors()
    if not mirrors:
        return None
    main, security = mirrors
    lines = [f"deb {main} {suite} main", f"deb {main} {suite}-updates main"]
    return "\n".join(lines + ([f"deb {security} {suite}-security main"] if security else [])) + "\n"
