# SPDX-License-Identifier: GPL-2.0-or-later
"""Code that is not changed, because the change would affect a text, a type or a check only, never a result."""

import libcst as cst

# Annotations are for mypy, decorators run once at import, an assert states what holds already, and what is raised
# counts, not its text.
KINDS = (cst.Annotation, cst.Decorator, cst.Assert, cst.Import, cst.ImportFrom, cst.Raise, cst.FormattedString)
# Without an argument each of these fails at once, whatever the tests are; a cast does nothing at all.
CALLS = {"len", "isinstance", "cast", "TypeVar", "NewType"}
# Keywords whose change is in no result: `strict` checks lengths, without `maintain_order` the order may be the same by
# chance, the others are texts, or the same on Linux.
TEXTS = {"description", "help", "title", "label", "subtitle", "caption"}
GENERIC = {"list", "dict", "tuple", "set", "Callable", "Iterator", "Mapping", "Sequence", "Literal"}
KEYWORDS = {"strict", "maintain_order", "encoding", *TEXTS}


def whole(node: cst.CSTNode) -> bool:
    """Return whether neither a node nor anything in it is changed."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name):
        return node.func.value in CALLS
    if isinstance(node, cst.Arg) and node.keyword:
        return node.keyword.value in KEYWORDS
    if isinstance(node, cst.If):
        return isinstance(node.test, cst.Name) and node.test.value == "TYPE_CHECKING"
    return isinstance(node, KINDS)


def one(node: cst.CSTNode, changed: cst.CSTNode) -> bool:
    """Return whether a change of a node concerns a text only, or fails whatever the tests are."""
    if isinstance(node, cst.Call) and isinstance(changed, cst.Call):
        kept = {id(argument) for argument in changed.args}
        is_shorter = len(changed.args) < len(node.args)
        return any(_adds_nothing(argument, is_shorter) for argument in node.args if id(argument) not in kept)
    if isinstance(node, cst.Assign | cst.AnnAssign) and node.value:
        return _is_text(node.value) or _is_type(node.value)
    return False


def _adds_nothing(argument: cst.Arg, is_dropped: bool) -> bool:
    """Return whether the change of an argument to None, or its removal, does not count.

    A call without a positional argument fails at once. None for True is False, which is a change of its own.
    """
    is_switch = isinstance(argument.value, cst.Name) and argument.value.value in ("True", "False")
    is_trivial = argument.keyword is None or _is_default(argument) if is_dropped else is_switch
    return is_trivial or whole(argument) or _is_text(argument.value)


def _is_default(argument: cst.Arg) -> bool:
    """Return whether an argument states what holds without it: subprocess.run does not check by itself."""
    value = argument.value
    return argument.keyword is not None and argument.keyword.value == "check" and _is_name(value, "False")


def _is_name(value: cst.BaseExpression, name: str) -> bool:
    return isinstance(value, cst.Name) and value.value == name


def _is_type(value: cst.BaseExpression) -> bool:
    """Return whether a value is a generic type, such as list[str]: an alias for annotations."""
    return isinstance(value, cst.Subscript) and isinstance(value.value, cst.Name) and value.value.value in GENERIC


def _is_text(value: cst.BaseExpression) -> bool:
    """Return whether a value is a sentence, not the name of a column or a key."""
    if isinstance(value, cst.FormattedString | cst.ConcatenatedString):
        return True
    return isinstance(value, cst.SimpleString) and " " in value.value
