# SPDX-License-Identifier: GPL-2.0-or-later
"""Every small change of a file, without making it: where it is, what it affects, and what the file becomes."""

import difflib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from bench.mutants import left_out, operators


@dataclass(frozen=True)
class Change:
    """One change of one file."""

    file: str
    function: str  # dotted; empty where the code runs at import
    lines: range  # of the statement that is changed
    module: cst.Module
    node: cst.CSTNode
    changed: cst.CSTNode

    def rank(self, seed: int) -> str:
        """Return a digest that stays when other code of the file changes: a sample is the lowest ranks."""
        code = [self.module.code_for_node(node) for node in (self.node, self.changed)]
        texts = (str(seed), self.file, self.function, *code)
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()

    @cached_property
    def source(self) -> str:
        """Return the changed file."""
        changed = self.module.deep_replace(self.node, self.changed)
        assert isinstance(changed, cst.Module)
        return changed.code

    @cached_property
    def lines_before_and_after(self) -> tuple[str, str]:
        """Return the lines that differ, with one space wherever there are more."""
        before, after = self.module.code.splitlines(), self.source.splitlines()
        blocks = difflib.SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes()
        differ = [block for block in blocks if block[0] != "equal"]
        first, last = differ[0], differ[-1]
        return _text(before[first[1] : last[2]]), _text(after[first[3] : last[4]])

    @property
    def difference(self) -> str:
        """Return the change in one line."""
        return " -> ".join(" ".join(text.split()) for text in self.lines_before_and_after)

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Return what names the change in the list of survivors."""
        return self.file, self.function, *self.lines_before_and_after


def _text(lines: Sequence[str]) -> str:
    return "\n".join(" ".join(line.split()) for line in lines)


def of_file(path: Path, name: str) -> list[Change]:
    """Return every change of a file that counts."""
    wrapper = MetadataWrapper(cst.parse_module(path.read_text()), unsafe_skip_copy=True)
    finder = _Finder(name, wrapper.module)
    wrapper.visit(finder)
    return finder.changes


class _Finder(cst.CSTVisitor):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, file: str, module: cst.Module) -> None:
        super().__init__()
        self.file, self.module = file, module
        self.changes: list[Change] = []
        self.names: list[str] = []
        self.depth = 0  # of functions
        self.statements: list[range] = [range(0)]

    def on_visit(self, node: cst.CSTNode) -> bool:
        if left_out.whole(node):
            return False
        if isinstance(node, cst.BaseStatement):
            self.statements.append(self._head(node))
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self.names.append(node.name.value)
            self.depth += isinstance(node, cst.FunctionDef)
        for changed in operators.changes(node):
            if not left_out.one(node, changed):
                function = ".".join(self.names) if self.depth else ""
                self.changes.append(Change(self.file, function, self.statements[-1], self.module, node, changed))
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if left_out.whole(original_node):
            return
        if isinstance(original_node, cst.BaseStatement):
            self.statements.pop()
        if isinstance(original_node, cst.FunctionDef | cst.ClassDef):
            self.names.pop()
            self.depth -= isinstance(original_node, cst.FunctionDef)

    def _head(self, node: cst.BaseStatement) -> range:
        """Return the lines of a statement without those of its body."""
        place = self.get_metadata(PositionProvider, node)
        assert isinstance(place, CodeRange)
        body = getattr(node, "body", None)
        if not isinstance(body, cst.IndentedBlock):
            return range(place.start.line, place.end.line + 1)
        begins = self.get_metadata(PositionProvider, body.body[0])
        assert isinstance(begins, CodeRange)
        return range(place.start.line, max(begins.start.line, place.start.line + 1))
