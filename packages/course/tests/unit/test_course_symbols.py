# SPDX-License-Identifier: GPL-2.0-or-later
"""What a module may take from the kernel, as far as it shows without one (the rest: tests/kernel/test_course.py)."""

import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab_course.symbols import require_plain_source, undefined

from lab.base.errors import UserError
from tests.brief import error_of
from tests.own_modules import REPORTING, source

MOST_BYTES, MOST_S = 100_000, 2  # of a file; a quadratic search takes 10 s and more


def test_a_plain_congestion_control_passes() -> None:
    for text in (source(), REPORTING):
        require_plain_source(text.replace("#include <linux/delay.h>\n", ""), "own.c")


def test_words_in_comments_and_texts_are_no_assembler() -> None:
    require_plain_source("int alternative_pkts; /* asm */\n", "own.c")
    require_plain_source(
        '/* it\'s */ int intersection; // R"(\nchar *a = "R", b = \'"\', *c = "x R"; /* asm */\n', "own.c"
    )
    require_plain_source('/* asm, ##, section */ // asm\nstatic char *a = "asm ## section";\n', "own.c")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\n\nvoid f(void) { asm(\"\"); }\n", "own.c:3: asm: must be left out"),
        ("void f(void) { as\\\nm(\"\"); }\n", "asm: must be left out"),
        ("void f(void) { as\\ \t\nm(\"\"); }\n", "asm: must be left out"),
        ("void f(void) { __PASTE(__as, m__)(\"\"); }\n", "__PASTE: must be left out"),
        ("char a[] = R\"(\")\"; asm(\"\"); char b[] = R\"(\")\";\n", "R\": must be left out"),
        ("#if 0\n\" /*\n#endif\nasm(\"\");\n#if 0\n\" */\n#endif\n", "own.c:4: asm: must be left out"),
        ("#if 0\nx' /*\n#endif\nasm(\"\");\n#if 0\n' */\n#endif\n", "own.c:4: asm: must be left out"),
        ("static char c[] __attribute__((__section__(\".text\"))) = \"\";\n", "__section__: must be left out"),
        ("void f(void) __attribute__((__alias__(\"g\")));\n", "__alias__: must be left out"),
        ("#define z alternative\n", "alternative: must be left out"),
        ("EXPORT_SYMBOL_NS(f, \"x\" ; syscall);\n", "EXPORT_SYMBOL_NS: must be left out"),
        ("#\f include <sysdep/stub.h>\n", "include=<sysdep/stub.h>: must be a header"),
        ("#inc\\\nlude <sysdep/stub.h>\n", "include=<sysdep/stub.h>: must be a header"),
        ("__asm__(\".incbin \\\"/etc/passwd\\\"\");\n", "__asm__: must be left out"),
        ("void f(void) { asm_inline(\"\"); }\n", "asm_inline: must be left out"),
        ("void f(void) { alternative (\"\", \"\", 1); }\n", "alternative: must be left out"),
        ("#define a(x, y) x %:%: y\n", "%:%:: must be left out"),
        ("#include </etc/passwd>\n", "include=</etc/passwd>: must be a header of linux/ or net/"),
        ("#import \"/etc/passwd\"\n", "include=\"/etc/passwd\": must be a header"),
        ("#/**/embed </etc/passwd>\n", "include=</etc/passwd>: must be a header"),
        ("#include MACRO\n", "include=MACRO: must be a header"),
        ("# /* x */ include \"../other.c\"\n", "include=\"../other.c\": must be a header"),
        ("#include <asm/io.h>\n", "must be"),
        ("// \r#include \"/etc/passwd\"\n", "include=\"/etc/passwd\": must be a header"),
        ("// \rasm(\"syscall\");\n", "own.c:2: asm: must be left out"),
        ("as\\\rm(\"\");\n", "asm: must be left out"),
        ("#if __has_include(</*>)\n#endif\nasm(\"\");\n/* */\n", "own.c:1: __has_include: must be left out"),
        ("#pragma x \"a\\\\\n\nasm(\"\");\n", "own.c:2: asm: must be left out"),
        ("#warning it's\\\\\n\nasm(\"\");\n", "own.c:2: asm: must be left out"),
    ],
)  # fmt: skip
def test_what_could_hide_a_symbol_is_named_with_its_line(text: str, line: str) -> None:
    assert line in error_of(require_plain_source, text, "own.c")


@pytest.mark.parametrize("words", ["/* ", "EXPORT_", "EXPORT_SYMBO", "'\\", "u8R", "# \f", "_"])
def test_a_source_of_any_words_is_read_in_little_time(words: str) -> None:
    began_s = time.process_time()
    require_plain_source(words * (MOST_BYTES // len(words)), "own.c")
    assert time.process_time() - began_s < MOST_S


@given(st.binary(max_size=400), st.booleans())
@settings(max_examples=200)
def test_no_bytes_of_a_stranger_are_more_than_a_refusal(content: bytes, headed: bool) -> None:
    module = (b"\x7fELF\x02\x01" + content) if headed else content
    with suppress(UserError):
        assert isinstance(undefined(module), set)
