# SPDX-License-Identifier: GPL-2.0-or-later
"""The first screen in a real browser: its matrix, its chapters, its pictures in docs/, and what axe-core finds."""

from pathlib import Path

import pytest

from bench.pictures import PICTURES, TOLERANCE, TRIALS, apart, picture, take
from tests.browser import Browser, browser, violations  # noqa: F401
from tests.first_screen import LINKS, SENDERS, example

MOST_BYTES = 8_000_000


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return example(tmp_path_factory.mktemp("results"), TRIALS)


def top_px(browser: Browser, selector: str) -> float:
    return float(browser.ask(f"return document.querySelector({selector!r}).getBoundingClientRect().top"))


@pytest.mark.parametrize("width_px", [400, 1300])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_violation_with_each_chapter_open(page: Path, browser: Browser, dark: bool, width_px: int) -> None:
    browser.open(page, width_px, dark)
    browser.ask("for (const each of document.querySelectorAll('details')) each.open = true")
    assert violations(browser) == []


@pytest.mark.parametrize("name", PICTURES)
def test_the_first_screen_looks_as_the_picture_in_docs(page: Path, browser: Browser, tmp_path: Path, name: str) -> None:
    taken = take(browser, page, name, tmp_path / name)
    assert apart(taken, picture(name)) <= TOLERANCE, f"python -m bench.pictures takes {name} again: look at it"


def test_a_picture_of_another_page_is_out_of_tolerance(page: Path, browser: Browser, tmp_path: Path) -> None:
    name = next(iter(PICTURES))
    browser.open(page)
    taken = take(browser, page, name, tmp_path / name, "document.querySelector('.matrix table').remove()")
    assert apart(taken, picture(name)) > TOLERANCE


def test_the_first_screen_has_the_whole_matrix_at_1300_pixels(page: Path, browser: Browser) -> None:
    browser.open(page, 1300)
    bottom = browser.ask("return document.querySelector('.matrix table').getBoundingClientRect().bottom")
    assert bottom <= 900


def test_a_click_on_a_cell_opens_the_report_of_that_very_run(page: Path, browser: Browser) -> None:
    browser.open(page)
    targets = browser.ask(
        "return [...document.querySelectorAll('.matrix td a:not(.capture)')].map((each) => each.getAttribute('href'))"
    )
    assert len(targets) == len(LINKS) * len(SENDERS)
    assert all("/20260101T000000Z/report.html" in target and (page.parent / target).is_file() for target in targets)
    browser.ask("document.querySelector('.matrix td a').click()")
    browser.wait('return document.title === "The run\'s own page"')


def test_the_choice_of_a_measure_changes_every_cell_and_the_caption(page: Path, browser: Browser) -> None:
    browser.open(page)
    shown = "[...document.querySelectorAll('.matrix [data-of]')].filter((each) => each.checkVisibility())"
    texts = []
    for value in ("chokepoint", "rule", "throughput", "retransmits"):
        browser.choose(".matrix select", value)
        cells = browser.ask(f"return {shown}.filter((each) => each.matches('.reading')).map((each) => each.dataset.of)")
        assert cells == [value] * len(LINKS) * len(SENDERS)
        texts.append(browser.ask("return document.querySelector('.matrix caption').innerText"))
    assert len(set(texts)) == 4


def test_no_class_of_exits_is_marked_by_its_colour_alone(page: Path, browser: Browser) -> None:
    browser.open(page)
    zones = ("early", "chokepoint", "late")
    image = "getComputedStyle(document.querySelector('.key .' + arguments[0])).backgroundImage.split('(')[0]"
    assert len({browser.ask(f"return {image}", zone) for zone in zones}) == len(zones)


@pytest.mark.parametrize("width_px", [400, 1300])
def test_navigation_stays_in_view_and_opens_its_chapter(page: Path, browser: Browser, width_px: int) -> None:
    browser.open(page, width_px)
    browser.ask("document.querySelector('nav a[href=\"#chapter-01-chapter\"]').click()")
    browser.wait("return document.getElementById('chapter-01-chapter').open")
    browser.ask("window.scrollTo(0, document.body.scrollHeight)")
    assert 0 <= top_px(browser, "nav") < 40


def test_a_deep_link_opens_its_chapter(page: Path, browser: Browser) -> None:
    browser.open(page)
    assert not browser.ask("return document.getElementById('claims').open")
    browser.driver.get("about:blank")
    browser.driver.get(f"{page.resolve().as_uri()}#claims")
    browser.wait("return document.getElementById('claims').open")


def test_a_narrow_screen_shows_cards_and_cuts_no_cell(page: Path, browser: Browser) -> None:
    browser.open(page, 400)
    browser.ask("for (const each of document.querySelectorAll('details')) each.open = true")
    cut = """return [...document.querySelectorAll('.matrix td, .cards td')].filter((cell) => {
        const box = cell.getBoundingClientRect(); return box.width && (box.right > 400 || box.left < 0); }).length"""
    assert browser.ask(cut) == 0
    labels = "return [...document.querySelectorAll('#summary td')].map((each) => each.dataset.label)"
    assert set(browser.ask(labels)) >= {"Trials", "Early (%)", "Throughput (Mb/s)"}


def test_no_figure_is_a_white_plate_in_the_dark_scheme(page: Path, browser: Browser) -> None:
    browser.open(page, 1300, dark=True)
    browser.ask("document.getElementById('chapter-01-chapter').open = true")
    plates = browser.ask(
        "return [...document.querySelectorAll('.plate')].map((each) => getComputedStyle(each).backgroundColor)"
    )
    assert plates
    assert set(plates) == {"rgb(22, 24, 28)"}


def test_the_trial_browser_opens_on_geo_with_search_and_no_panel_is_empty(page: Path, browser: Browser) -> None:
    browser.open(page)
    assert browser.ask("return document.getElementById('browser').dataset.shown").startswith(
        "example-geo-viasat/search-"
    )
    assert browser.ask("return [...document.querySelectorAll('.chart .none')].length") == 0


def test_the_page_of_three_links_is_small(page: Path) -> None:
    assert page.stat().st_size <= MOST_BYTES
