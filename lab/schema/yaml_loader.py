# SPDX-License-Identifier: GPL-2.0-or-later
"""YAML as the lab reads it: numbers, texts, lists and mappings, each name once, and bounds on all of it.

An alias counts as what it repeats, so that a short file cannot stand for a long one.
"""

import re
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.constructor import ConstructorError

from lab.base.plain_text import CONTROL, cut

MOST_DEPTH = 50
MOST_NODES = 100_000  # of the largest file of the lab, datasets.yml, 3,000
TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str", "seq", "map"))
ODD_NUMBER = re.compile(r"[-+]?0[0-9_]+|.*:.*")  # YAML 1.1 alone reads 010 as 8, and 1:30 as 90
TEXT = "tag:yaml.org,2002:str"
MERGE = "tag:yaml.org,2002:merge"
TIMESTAMP = "tag:yaml.org,2002:timestamp"
LINE_PARTS = str.maketrans("", "", "\n\t")  # control characters that a text may have
SHOWN_CHARS = 40


class Loader(Composer, yaml.CSafeLoader):
    """The safe loader with bounds; dates are texts, and so are numbers that YAML 1.1 and 1.2 read differently.

    libyaml parses, and PyYAML's own composer builds the nodes: libyaml's would count none.
    """

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != TIMESTAMP]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def __init__(self, stream: str) -> None:
        yaml.CSafeLoader.__init__(self, stream)
        Composer.__init__(self)
        self.depth = self.nodes = 0
        self.sizes: dict[str | None, int] = {}  # nodes below each anchor

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Count a node, and what an alias repeats."""
        event: Any = self.peek_event()
        if isinstance(event, yaml.AliasEvent):
            if event.anchor in self.anchors and event.anchor not in self.sizes:
                raise _refusal(f"*{event.anchor}: must not repeat itself", event)
            self._count(self.sizes.get(event.anchor, 0), event)
            return super().compose_node(parent, index)
        before, self.depth = self.nodes, self.depth + 1
        self._count(1, event)
        if self.depth > MOST_DEPTH:
            raise _refusal(f"depth: must be at most {MOST_DEPTH}", event)
        node = super().compose_node(parent, index)
        self.depth -= 1
        if event.anchor:
            self.sizes[event.anchor] = self.nodes - before
        return node

    def _count(self, nodes: int, event: Any) -> None:
        self.nodes += nodes
        if self.nodes > MOST_NODES:
            raise _refusal(f"values: must be at most {MOST_NODES}, those of aliases included", event)

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """Construct a value of a plain kind; what is none of its tag is refused with its line."""
        if node.tag not in TAGS:
            raise _refusal(f"{cut(str(node.tag), SHOWN_CHARS)}: must be no tag but those of plain values", node)
        try:
            value = super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, ValueError):
            kind = node.tag.rpartition(":")[2]
            raise _refusal(f"{cut(str(node.value), SHOWN_CHARS)}: must be a value of kind {kind}", node) from None
        if isinstance(value, (int, float)) and ODD_NUMBER.fullmatch(node.value):
            return node.value
        if isinstance(value, str) and CONTROL.search(value.translate(LINE_PARTS)):
            raise _refusal(f"{cut(value, SHOWN_CHARS)}: must be text without control characters", node)
        return value

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Construct a mapping whose names are texts, each of them once."""
        names = set()
        if any(name.tag == MERGE for name, _ in node.value):
            return self._merged(node, deep)
        for name, _ in node.value:
            if name.tag != TEXT:
                raise _refusal(f"{cut(str(name.value), SHOWN_CHARS)}: must be a text where it is a field's name", name)
            if name.value in names:
                raise _refusal(f"{cut(name.value, SHOWN_CHARS)}: must stand once: the field is given twice", name)
            names.add(name.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping

    def _merged(self, node: Any, deep: bool) -> dict[Any, Any]:
        """Construct a mapping that takes others in (`<<: *other`): its own fields stand before theirs."""
        own = [pair for pair in node.value if pair[0].tag != MERGE]
        found: dict[Any, Any] = {}
        for value in [value for name, value in node.value if name.tag == MERGE]:
            for part in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if not isinstance(part, yaml.MappingNode):
                    raise _refusal("<<: must be a mapping, or a list of them", part)
                found = {**self.construct_mapping(part, True), **found}
        return {**found, **self.construct_mapping(yaml.MappingNode(node.tag, own, node.start_mark), deep)}


def load_text(text: str) -> Any:
    """Return the content of a YAML text; yaml.YAMLError where it is none or is beyond a bound."""
    loader = Loader(text)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def _refusal(problem: str, at: Any) -> ConstructorError:
    return ConstructorError(None, None, problem, at.start_mark)
