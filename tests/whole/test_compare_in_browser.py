# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a comparison in a real browser: its choice of measures, and what axe-core finds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import Browser, chromium, violations
from tests.compared import example, store


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_RESULTS", str(results))
        return example(*store(results, 5))[0] / "compare.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.mark.parametrize("width_px", [400, 1300])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_violation_with_everything_open(page: Path, browser: Browser, dark: bool, width_px: int) -> None:
    browser.open(page, width_px, dark)
    browser.ask("for (const each of document.querySelectorAll('details')) each.open = true")
    assert violations(browser) == []


@pytest.mark.parametrize("width_px", [400, 1300])
def test_the_page_is_no_wider_than_the_window_and_asks_nobody(page: Path, browser: Browser, width_px: int) -> None:
    browser.requests()
    browser.open(page, width_px)
    assert browser.ask("return document.documentElement.scrollWidth") <= width_px
    assert all(url.startswith(("file:", "data:")) for url in browser.requests())
    assert browser.complaints() == []


def test_the_reader_picks_the_measure_that_ranks(page: Path, browser: Browser) -> None:
    browser.open(page)
    shown = "return [...document.querySelectorAll('.matrix td .reading:not([hidden])')].map(each => each.dataset.of)"
    assert set(browser.ask(shown)) == {"chokepoint"}
    browser.choose(".matrix select", "throughput")
    assert set(browser.ask(shown)) == {"throughput"}


def test_the_first_screen_has_the_matrix(page: Path, browser: Browser) -> None:
    browser.open(page, 1300)
    bottom = browser.ask("return document.querySelector('.matrix table').getBoundingClientRect().bottom")
    assert bottom <= 900
