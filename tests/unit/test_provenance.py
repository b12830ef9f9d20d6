# SPDX-License-Identifier: GPL-2.0-or-later
"""The sentences about a link and the mark under its figures, made of what run.json keeps of its profile."""

import json

import pytest

from lab.base.named_files import profile_files
from lab.judge.provenance import mark, provenance
from lab.links.profile import read_profile


@pytest.mark.parametrize("name", sorted(profile_files()))
def test_every_profile_as_run_json_keeps_it_has_its_sentences(name: str) -> None:
    profile = read_profile(profile_files()[name])
    kept = json.loads(json.dumps(profile.model_dump()))
    recorded, published, assumed, *_ = provenance(kept)
    assert recorded.startswith("Recorded of the link: ")
    assert published.startswith("Published of the link: ")
    assert assumed.startswith("Assumed of the link: ")


def test_a_link_states_the_kinds_of_its_values_and_the_spreads_of_its_levels() -> None:
    assert mark({"recorded": ["a"], "published": [], "assumed": ["b"]}) == "Link: recorded, assumed"
    assert mark({}) == "Link: without a source"
    spreads = {"mean": 285, "ln_sd": 0.5, "between_ln_sd": 0.593}
    levels = {"model": "levels", "period_s": 0.2, "least": 5, "most": float("inf"), "source": "a paper", **spreads}
    *_, sentence = provenance(json.loads(json.dumps({"down": {"rate_mbps": levels}})))
    assert sentence.startswith("Levels of down.rate_mbps: ")
    assert all(number in sentence for number in ("285", "0.5", "0.593")), sentence
