# SPDX-License-Identifier: GPL-2.0-or-later
"""Seeds of a student: the public ones follow from the ID alone, the hidden ones also need the teacher's key.

A seed decides what a trial draws of its link. The ID and the assignment decide the public seeds, so that a student
sees at home what the grader will see. Without the key nobody can compute a hidden seed (HMAC-SHA256).
"""

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from lab.base.errors import UserError, field_error
from lab.base.plain_file import read_plain

SEED_BITS = 31
KEY_BYTES = 32
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@+-]{0,63}")
ID_RULE = "letters, digits and _ . @ + - only, at most 64 of them, the first a letter or a digit"
KEY_RULE = f"a key that 'lab course key FILE' made: {2 * KEY_BYTES} hexadecimal digits"


def require_id(student: str, where: str) -> str:
    """Return a student's ID; UserError where it could be more than a name."""
    if not ID.fullmatch(student):
        raise field_error(where, "student", student, ID_RULE)
    return student


def public_seed(assignment: str, student: str, number: int = 0) -> int:
    """Return a seed that everybody can compute from the student's ID."""
    return _seed(hashlib.sha256(_message("public", assignment, student, number)).digest())


def hidden_seed(key: bytes, assignment: str, student: str, number: int = 0) -> int:
    """Return a seed that only the holder of the key can compute."""
    return _seed(hmac.digest(key, _message("hidden", assignment, student, number), "sha256"))


def make_key(file: Path) -> None:
    """Write a new key that only its owner can read; UserError where the file exists."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        raise UserError(f"{file}: must not exist: a new key would change every hidden seed") from None
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from None
    with os.fdopen(descriptor, "w") as stream:
        stream.write(secrets.token_hex(KEY_BYTES) + "\n")


def read_key(file: Path) -> bytes:
    """Read a key; UserError where the file holds none, or others may read it."""
    try:
        text = read_plain(file, 1000).decode("ascii").strip()
        mode = file.stat().st_mode & 0o077
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{file}: must be {KEY_RULE}") from None
    if not re.fullmatch(rf"[0-9a-f]{{{2 * KEY_BYTES}}}", text):
        raise UserError(f"{file}: must be {KEY_RULE}")
    if mode:
        raise field_error(file, "mode", f"{file.stat().st_mode & 0o777:o}", "600: chmod 600")
    return bytes.fromhex(text)


def _message(part: str, assignment: str, student: str, number: int) -> bytes:
    return "\0".join((part, assignment, student, str(number))).encode()


def _seed(digest: bytes) -> int:
    return int.from_bytes(digest[:8], "big") % (1 << SEED_BITS)
