# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading a text file whole, and refusing one of its lines."""

from pathlib import Path

from lab.base.errors import UserError, field_error
from lab.base.plain_file import MEGABYTE
from lab.traces.importer import UTF_16, open_bytes

MOST_BYTES = 250 * MEGABYTE  # unpacked: as text in columns it takes some twenty times as much memory
LONGEST_VALUE = 60


def read_bytes(path: Path) -> bytes:
    """Read a whole file; UserError where it is empty or larger than MOST_BYTES."""
    with open_bytes(path) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UserError(f"{path}: bytes: must be at most {MOST_BYTES}, unpacked: import it in parts")
    if not data.strip():
        raise UserError(f"{path}: content: must be something: the file is empty")
    return data


def read_text(path: Path) -> str:
    """Read a whole text file, with line ends as Unix has them."""
    data = read_bytes(path)
    try:
        text = data.decode("utf-16" if data.startswith(UTF_16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}: line {data.count(10, 0, error.start) + 1}: must be UTF-8 text, or UTF-16 with its mark"
        ) from None
    if "\0" in text:
        raise UserError(
            f"{path}: line {text.count(chr(10), 0, text.index(chr(0))) + 1}: must be text, without zero bytes"
        )
    text = text.replace("\r\n", "\n")
    return text if "\n" in text.rstrip() else text.replace("\r", "\n")  # old Macs end lines by CR alone


def read_lines(path: Path) -> list[str]:
    """Read a text file's lines; blank ones at its end are left out."""
    return read_text(path).rstrip().split("\n")


def lacks_end(path: Path) -> bool:
    """Return whether a text file's last line has no end, as where its writer was interrupted."""
    return not read_text(path).endswith(("\n", "\r"))


def line_error(file: Path | str, line: int, field: str, value: object, rule: str, place: str = "line") -> UserError:
    """Return the error of a refused value: `<file>: line N: <field>=<value>: must be <rule>`."""
    return field_error(f"{file}: {place} {line}", field, short(value), rule)


def short(value: object) -> str:
    """Shorten a value for a message of one line."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(value))
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 3]}..."
