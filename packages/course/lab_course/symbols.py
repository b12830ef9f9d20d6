# SPDX-License-Identifier: GPL-2.0-or-later
"""What a handed-in module may take from the kernel: the symbols of a congestion control, and no more.

Checked are the undefined symbols of the built module: whatever it calls by name stands there. A module that reads
files, looks symbols up or writes elsewhere needs a symbol that is not listed. The source may have no inline assembler,
no pasted tokens (##) and no section of its own, so that no such word can be hidden in a macro.

Not checked: what the module does through pointers that it may have, such as those of its socket. It runs in a virtual
kernel with nothing in reach but its own trial (docs/threat-model.md).
"""

import re
import struct
from collections.abc import Iterator
from fnmatch import fnmatchcase

from lab.base.errors import UserError, field_error

ALLOWED = (
    *("tcp_register_congestion_control", "tcp_unregister_congestion_control", "tcp_reno_*", "tcp_slow_start"),
    *("tcp_cong_avoid_ai", "slow_start_left_ago", "slow_start_reducing", "slow_start_reduced", "slow_start_cause"),
    *("minmax_running_min", "minmax_running_max"),
    *("_printk", "___ratelimit", "__warn_printk", "__stack_chk_fail", "__fentry__", "__bug_table*"),
    *("param_ops_*", "param_array_ops", "param_get_*", "param_set_*", "kstrto*"),
    *("int_sqrt*", "__udivdi3", "__divdi3", "__umoddi3", "__moddi3", "div64_*", "mul_u64_*", "gcd", "int_pow"),
    *("memcpy", "memmove", "memset", "memcmp", "__memcpy", "__memset", "strcmp", "strlen", "strcspn", "sort"),
    *("kfree", "kmalloc_caches", "__kmalloc_noprof", "__kmalloc_cache_noprof", "krealloc_noprof"),
    *("jiffies", "jiffies_64", "__msecs_to_jiffies", "__usecs_to_jiffies", "jiffies_to_msecs", "jiffies_to_usecs"),
    *("ktime_get", "ktime_get_mono_fast_ns", "get_random_u32", "__get_random_u32_below", "prandom_u32_state"),
    *("signals_enabled", "um_set_signals", "unblock_signals", "block_signals"),  # of spinlocks in User Mode Linux
)
RULE = "a symbol that a congestion control needs (docs/course/grading.md)"
LINE_END = re.compile(r"\r\n?")  # gcc ends a line there, too
SPLICE = re.compile(r"\\[ \t\f\v\0]*\n")  # gcc joins lines across blanks, too
RAW = 'R"'  # a text of gnu11 that ends elsewhere than any other
# A text that is not closed ends with its line: gcc takes what is skipped (#if 0) so.
COMMENTS = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|\b(?:u8|[uUL])?R"|"(?:\\[^\n]|[^"\\\n])*"?|\'(?:\\[^\n]|[^\'\\\n])*\'?', re.DOTALL
)
MACROS = (  # of linux/ headers that are assembler, or paste; and gcc's, in whose <...> no comment begins
    r"alternative\w*(?=\s*\()|alternative(?:_2|_3|_io|_input|_call|_call_2)?|\w*PASTE|\w*CONCAT\w*|(?>\w*?EXPORT_)\w*SYMBOL\w*"
    r"|BTF_\w+|cond_syscall|COND_SYSCALL\w*|SYSCALL_ALIAS|__has_(?:include|embed)\w*"
)
FORBIDDEN = re.compile(rf'\b(_*asm\w*|{MACROS}|_*section_*|_*alias_*)\b|(##|%:%:|\?\?=|R")')
INCLUDE = re.compile(r"^[ \t\f\v\0]*(?:#|%:)[ \t\f\v\0]*(?:include|import|embed)[ \t\f\v\0]*(.*)$", re.MULTILINE)
HEADER = re.compile(r'<(?:linux|net|uapi/linux)/[a-z0-9_/]+\.h>|"[a-z0-9_]+\.h"')

SECTION, SYMBOL = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ")
SYMTAB = 2


def require_symbols(module: bytes, name: str) -> None:
    """Refuse a built module that takes something else from the kernel; UserError names the symbol."""
    for symbol in sorted(undefined(module)):
        if not any(fnmatchcase(symbol, allowed) for allowed in ALLOWED):
            raise UserError(f"{name}: symbol={symbol}: must be {RULE}")


def require_plain_source(source: str, name: str) -> None:
    """Refuse a source with inline assembler, pasted tokens, sections of its own or other headers."""
    source = SPLICE.sub("", LINE_END.sub("\n", source))
    text = COMMENTS.sub(_same_lines, source)
    if found := FORBIDDEN.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise UserError(f"{name}:{line}: {found[0]}: must be left out: no assembler, no pasted tokens, no sections")
    for include in INCLUDE.finditer(_without_comments(source)):
        if not HEADER.match(include[1].strip()):
            rule = "a header of linux/ or net/, or slow_start.h"
            raise field_error(name, "include", include[1].strip(), rule)


def _same_lines(found: re.Match[str]) -> str:
    return RAW if found[0].endswith(RAW) and found[0][0] not in "\"'/" else "\n" * found[0].count("\n") or " "


def _without_comments(source: str) -> str:
    return COMMENTS.sub(lambda found: found[0] if found[0][0] in "\"'" else _same_lines(found), source)


def undefined(module: bytes) -> set[str]:
    """Return the undefined symbols of a 64-bit ELF object; UserError where it is none."""
    try:
        return set(_undefined(module))
    except (struct.error, IndexError, ValueError, UnicodeDecodeError):
        raise UserError("module: must be a whole ELF object") from None


def _undefined(module: bytes) -> Iterator[str]:
    if module[:6] != b"\x7fELF\x02\x01":
        raise ValueError
    (offset,) = struct.unpack_from("<Q", module, 40)
    size, count = struct.unpack_from("<HH", module, 58)
    sections = [SECTION.unpack_from(module, offset + number * size) for number in range(count)]
    for section in sections:
        if section[1] != SYMTAB:
            continue
        names = sections[section[6]]
        texts = module[names[4] : names[4] + names[5]]
        for place in range(section[4], section[4] + section[5], SYMBOL.size):
            name, _, _, index, _, _ = SYMBOL.unpack_from(module, place)
            if name and not index:
                yield texts[name : texts.index(b"\0", name)].decode("ascii")
