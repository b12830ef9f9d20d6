# SPDX-License-Identifier: GPL-2.0-or-later
"""Parameters of a user's own module, as `lab try --param` takes them."""

from types import SimpleNamespace
from typing import Any

import pytest
from lab_try.senders import read_params

from lab.base.errors import UserError

MODULE: Any = SimpleNamespace(
    parameters={"gain": "int", "fast": "bool", "gains": "array of uint", "label": "charp", "names": "array of charp"}
    | {"mode": "string", "mask": "hexint", "masks": "array of hexint"}
)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (("gain=3", "gain=4"), "command line: param gain=4: must be given once: it is 3 already"),
        (("gain=fast",), "command line: param gain=fast: must be a whole number"),
        (("gain=1_0",), "command line: param gain=1_0: must be a whole number"),
        (("gain= 3",), "command line: param gain= 3: must be a whole number"),
        (
            ("other=3",),
            "command line: param=other: must be a parameter of the module: fast, gain, gains, label, mask, masks",
        ),
        (("fast=2",), "command line: param fast=2: must be Y or N"),
        (("gains=1,",), "command line: param gains=1,: must be a list with commas, each a whole number"),
        (("label=a b",), "command line: param label=a b: must be 1 to 200 letters, digits and signs, without blanks"),
        (("names=" + 500 * "a," + " ",), "command line: param names=a,a,"),
        (("mask=0xg",), "command line: param mask=0xg: must be a whole number, such as 31 or 0x1f"),
        (("label=",), "command line: param label=: must be 1 to 200 letters"),
    ],
)
def test_a_parameter_has_a_value_of_its_type_once(given: tuple[str, ...], line: str) -> None:
    with pytest.raises(UserError) as refused:
        read_params(given, [MODULE])
    assert str(refused.value).startswith(line)


def test_a_parameter_of_each_type_is_given_as_the_kernel_takes_it() -> None:
    found = read_params(
        ["gain=-3", "fast=Y", "gains=1,2", "label=a=/b", "names=a,b", "mode=abc", "mask=0x1f", "masks=0x1f,2"], [MODULE]
    )
    texts = {"fast": "Y", "gains": "1,2", "label": "a=/b", "names": "a,b", "mode": "abc", "mask": "0x00001f"}
    texts["masks"] = "0x00001f,0x000002"
    assert found == {"gain": -3, **texts}
