# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON has one value for each member."""

import json

import pytest

from lab.base import strict_json


def test_each_member_has_one_value_and_one_that_stands_twice_among_many_is_found_at_once() -> None:
    assert strict_json.loads('{"a": {"b": 1}, "b": [2]}') == {"a": {"b": 1}, "b": [2]}
    names = ", ".join(f'"{number}": 0' for number in [*range(200_000), 199_999])
    with pytest.raises(json.JSONDecodeError, match="'199999' stands twice in one object"):
        strict_json.loads(f"{{{names}}}")


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "c": 2, "a": 3}}]', '{"a": 1', ""])
def test_a_member_that_stands_twice_is_refused_as_broken_json_is(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        strict_json.loads(text)
