# SPDX-License-Identifier: GPL-2.0-or-later
"""Read a user's YAML into a model, or refuse it in one line."""

import re
from collections.abc import Iterator
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from lab.base import plain_text
from lab.base.choice import near, suggested
from lab.base.errors import Faults, UserError, field_error
from lab.base.named_files import shown
from lab.base.plain_file import MEGABYTE, read_plain
from lab.schema.yaml_loader import load_text

MOST_BYTES = MEGABYTE
MOST_SHOWN_CHARS = 60
UNNAMED = ("~", "function-", "[key]")  # parts of pydantic's places that are no field's name
NO_FLAG = BeforeValidator(lambda value: str(value) if isinstance(value, bool) else value)  # `on` would be 1.0
Real = Annotated[float, NO_FLAG, Field(strict=False)]  # a number, also as text, such as 2e1, which YAML 1.1 reads so


def like(pattern: str, rule: str) -> AfterValidator:
    """Require a text of a pattern; the rule says in words what that is."""

    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(rule)
        return value

    return AfterValidator(check)


DocumentAndPlace = Annotated[str, like(r"[^,]+, .+", "a document, a comma, and the place in it")]


class Strict(BaseModel):
    """A model that refuses unknown fields, and text where a number must be."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


Model = TypeVar("Model", bound=BaseModel)


def read_yaml(file: Path) -> Any:
    """Read a YAML file; UserError names the line where it is not YAML."""
    return parse_yaml(read_text(file), shown(file))


def read_text(file: Path) -> str:
    """Read a user's file of bounded size; UserError where it is no text."""
    try:
        return read_plain(file, MOST_BYTES).decode("utf-8")
    except OSError as error:
        raise UserError(f"{shown(file)}: {error.strerror}: must be a readable file") from None
    except UnicodeDecodeError:
        raise UserError(f"{shown(file)}: must be UTF-8 text") from None


def parse_yaml(text: str, name: str) -> Any:
    """Parse the YAML text of a file; UserError names the line where it is not YAML."""
    try:
        return deepcopy(_parsed(text))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", error)
        raise UserError(f"{name}:{line} {problem}{'' if 'must ' in str(problem) else ': must be YAML'}") from None


@lru_cache(maxsize=128)
def _parsed(text: str) -> Any:
    """Parse a text once: one command reads lab/cca.yml and the base of a counterfactual a hundred times."""
    return load_text(text)


def parse(model: type[Model], content: Any, file: Path, *within: str) -> Model:
    """Check the content of a file, or what it has within a field; Faults has a line for each wrong field."""
    try:
        return model.model_validate(content)
    except ValidationError as errors:
        raise Faults(_refusal(model, file, error, *within) for _, error in _one_each(content, errors)) from None


def faults_of(model: type[BaseModel], content: Any, file: Path) -> tuple[list[UserError], Any]:
    """Return the faults of wrong fields, and the content without these; None where the model needs one of them."""
    try:
        model.model_validate(content)
    except ValidationError as errors:
        found = _one_each(content, errors)
        rest = deepcopy(content)
        for place, error in reversed(found):
            rest = None if rest is None or error["type"] == "missing" else _without(rest, place)
        if rest is not None:
            try:
                model.model_validate(rest)
            except ValidationError:
                rest = None
        return [_refusal(model, file, error) for _, error in found], rest
    return [], content


def _one_each(content: Any, errors: ValidationError) -> list[tuple[tuple[Any, ...], Any]]:
    """Return the first error of each place of the content: pydantic has one for each form that is allowed."""
    first: dict[tuple[Any, ...], Any] = {}
    for error in errors.errors():
        first.setdefault(_place(content, error), error)
    return list(first.items())


def _place(content: Any, error: Any) -> tuple[Any, ...]:
    """Return where in the content an error is: its location as far as the content has it."""
    found, here = [], content
    for part in error["loc"]:
        known = range(len(here)) if isinstance(here, list) else here if isinstance(here, dict) else ()
        if part in known:
            here = here[part]
        elif error["type"] == "missing" and part == error["loc"][-1]:
            pass
        elif str(part).startswith("~"):
            continue
        else:
            break
        found.append(part)
    return tuple(found)


def _without(content: Any, place: tuple[Any, ...]) -> Any:
    """Take one entry out."""
    if not place:
        return None
    here = content
    for part in place[:-1]:
        here = here[part]
    del here[place[-1]]
    return content


def load(model: type[Model], file: Path) -> Model:
    """Read and check one file."""
    return parse(model, read_yaml(file), file)


def nested(errors: ValidationError) -> PydanticCustomError:
    """Return the first error of a model inside a field, for that field's own validator to raise."""
    inner = errors.errors(include_url=False)[0]
    return PydanticCustomError("nested", "{inner}", {"inner": inner})


def _refusal(model: type[BaseModel], file: Path, error: Any, *within: str) -> UserError:
    if error["type"] == "nested":
        inner = error["ctx"]["inner"]
        error = {**inner, "loc": (*error["loc"], *inner["loc"])}
    place = (*within, *error["loc"])
    field = ".".join(str(part) for part in place if not str(part).startswith(UNNAMED)) or "content"
    value = "" if error["type"] == "missing" else plain_text.cut(plain_text.shown(error["input"]), MOST_SHOWN_CHARS)
    return field_error(shown(file), field, value, rule_of(error) + _near(model, error))


def _near(model: type[BaseModel], error: Any) -> str:
    """Return a question with the fields that are spelt like one that is none, of the models at its place."""
    *above, name = error["loc"] if error["type"] == "extra_forbidden" else ("",)
    here = {model}
    for part in above:
        if fields := [one.model_fields[part] for one in here if part in one.model_fields]:
            here = {below for field in fields for below in _models(field.annotation)}
    known = sorted({field for one in here for field in one.model_fields if field[:1] == str(name)[:1]})
    return f": {suggested(str(name), known)}" if near(str(name), known) else ""


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models that a field may have."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def rule_of(error: Any) -> str:
    """Return the rule that a value breaks, in the lab's words where pydantic's say what it has tried."""
    about = error.get("ctx", {})
    tags = str(about.get("expected_tags", "")).replace("'", "").replace("~", "")
    rules = {
        "missing": "given",
        "extra_forbidden": "left out: it is not a field",
        "union_tag_invalid": f"one of these forms: {tags}",
        "too_short": f"of at least {about.get('min_length')} entries",
        "too_long": f"of at most {about.get('max_length')} entries",
        "model_type": "a mapping of fields",
        "string_too_short": "some text",
        "string_too_long": f"a text of at most {about.get('max_length')} characters",
        "union_tag_not_found": f"a mapping with the field {about.get('discriminator')}",
        "model_attributes_type": "a mapping of fields",
        "dict_type": "a mapping",
        "is_instance_of": "a list",  # of a Sequence
        "float_parsing": "a valid number",
        "int_parsing": "a valid integer",
        "int_parsing_size": "an integer of fewer digits",
    }
    return rules.get(error["type"]) or error["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
