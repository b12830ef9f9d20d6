# SPDX-License-Identifier: GPL-2.0-or-later
"""The pages in a real browser: they open from disk without a network, by keyboard, on narrow screens, for everybody."""

import re
from pathlib import Path

import pytest
from lab_papers.index.write import write_index
from selenium.webdriver.common.keys import Keys

from lab.senders.traced import CAPTURED
from tests.browser import Browser, browser, violations  # noqa: F401
from tests.compared import example, store
from tests.stored_run import store_run

NARROW_PX, WIDE_PX = 360, 1200
A4_PX = 718  # without the margins of 1 cm
LEAST_CONTRAST = 4.5  # WCAG 2.1, AA, small text
BROKEN = """# # Does a broken notebook break the page?
# %% tags=["parameters"]
results_dir = "results"
out_dir = None
# %%
from lab_papers.index.artefacts import Artefacts
made = Artefacts.into(out_dir)
made.pending("one", "thesis, figure 0.0", "nobody drew it")
raise ValueError("the ink is dry")
"""
LUMINANCE = """
const shown = (element, key) => getComputedStyle(element).getPropertyValue(key).match(/[0-9.]+/g).slice(0, 3);
const linear = (c) => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
const light = (rgb) => { const [r, g, b] = rgb.map((c) => linear(c / 255));
  return .2126 * r + .7152 * g + .0722 * b; };
const paper = light(shown(document.body, "background-color"));
return [...document.querySelectorAll(".chart .moment text, .chart .name, .chart .tick")].map((text) => {
  const ink = light(shown(text, "fill")); return (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05); });
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = tmp_path_factory.mktemp("results")
    run = store_run(results, trials=2, latest=True)
    for trial in (run / "trials").iterdir():
        (trial / f"{CAPTURED}.zst").touch()
    notebooks = tmp_path_factory.mktemp("notebooks")
    text = BROKEN.replace("# # ", "# %% [markdown]\n# # ", 1)
    (notebooks / "01-broken.py").write_text(text)
    return write_index(results, None, notebooks)


@pytest.fixture(scope="module")
def own_page(index: Path) -> Path:
    return index.parent / "geo" / "latest" / "report.html"


@pytest.mark.parametrize("name", ["index", "own_page", "page"])
def test_a_page_opens_from_disk_without_an_error_and_requests_nothing(
    name: str, browser: Browser, request: pytest.FixtureRequest
) -> None:
    page: Path = request.getfixturevalue(name)
    browser.requests(), browser.complaints()
    browser.open(page)
    assert browser.complaints() == []
    requested = [address for address in browser.requests() if not address.startswith(("data:", "blob:"))]
    assert requested == [page.resolve().as_uri()]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["index", "own_page", "page"])
def test_on_a_narrow_screen_nothing_needs_sideways_scrolling_but_what_is_marked_so(
    name: str, dark: bool, browser: Browser, request: pytest.FixtureRequest
) -> None:
    browser.open(request.getfixturevalue(name), NARROW_PX, dark)
    assert browser.ask("return document.documentElement.scrollWidth") <= NARROW_PX
    wide = "return [...document.querySelectorAll('.chart svg')].map((each) => each.getBoundingClientRect().width)"
    widths = browser.ask(wide)
    assert widths or name == "page"  # of a comparison, which has tables alone
    assert all(width <= NARROW_PX for width in widths)


@pytest.mark.parametrize("name", ["index", "own_page"])
def test_on_paper_tables_and_figures_are_whole_and_what_only_a_screen_can_do_is_left_out(
    name: str, browser: Browser, request: pytest.FixtureRequest
) -> None:
    browser.open(request.getfixturevalue(name), A4_PX)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    cut = "return [...document.querySelectorAll('table, .plate svg')].map((each) => each.getBoundingClientRect().right)"
    assert max(browser.ask(cut)) <= A4_PX
    assert browser.ask("return getComputedStyle(document.querySelector('.chart svg')).maxWidth") == "100%"
    assert browser.ask("return document.querySelector('.pick').checkVisibility()") is False
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_without_scripts_no_control_stands_that_does_nothing(browser: Browser, own_page: Path) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.driver.get(own_page.resolve().as_uri())
        seen = browser.driver.find_elements("css selector", "button, select")
        assert [each.is_displayed() for each in seen] == [False] * len(seen)
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_the_trial_browser_is_worked_by_keyboard_alone(browser: Browser, index: Path) -> None:
    browser.open(index)
    whole = browser.text("view")
    browser.press("chart", "+")
    near = browser.text("view")
    browser.press("chart", Keys.ARROW_RIGHT)
    later = browser.text("view")
    browser.press("chart", "0")
    assert len({whole, near, later}) == 3
    assert browser.text("view") == whole
    browser.press("chart", Keys.SHIFT + Keys.ARROW_RIGHT)
    assert re.search(r"At \d+\.\d+ s: congestion window \d+", browser.text("view"))


def test_another_trial_and_another_sender_are_picked_by_keyboard(browser: Browser, index: Path) -> None:
    browser.open(index)
    first = browser.ask("return document.getElementById('browser').dataset.shown")
    browser.press("chart", Keys.PAGE_DOWN)
    browser.wait(f"return document.getElementById('browser').dataset.shown !== '{first}'")
    browser.press("cca", Keys.ARROW_DOWN)
    browser.wait("return document.getElementById('browser').dataset.shown.startsWith('geo/cubic-')")
    assert "CUBIC with HyStart" in browser.text("summary")


def test_tab_reaches_every_control_of_the_trial_browser_in_the_order_of_the_page(browser: Browser, index: Path) -> None:
    browser.open(index)
    browser.press("cca")
    reached = []
    for _ in range(11):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(browser.ask("const on = document.activeElement; return on.dataset.part || on.dataset.do"))
    assert reached == [
        *("trial", "previous", "next", "chart"),
        *("in", "out", "left", "right", "start", "whole", "save"),
    ]


def test_what_is_in_view_is_there_as_a_table(browser: Browser, index: Path) -> None:
    browser.open(index)
    rows = browser.ask("return [...document.querySelectorAll('[data-part=rows] tr')].map((row) => row.innerText)")
    cells = browser.ask("return document.querySelectorAll('[data-part=rows] tr:last-child > *').length")
    assert len(rows) == 21
    assert cells == 5


@pytest.mark.parametrize("width_px", [NARROW_PX, WIDE_PX])
def test_each_cell_of_the_matrix_holds_what_it_shows(browser: Browser, index: Path, width_px: int) -> None:
    browser.open(index, width_px)
    below = """return [...document.querySelectorAll('.matrix td a.capture')].map((each) =>
        each.getBoundingClientRect().bottom - each.closest('td').getBoundingClientRect().bottom)"""
    assert max(browser.ask(below)) <= 1


def test_every_picture_has_a_text_that_stands_for_it(browser: Browser, index: Path) -> None:
    browser.open(index)
    named = "document.getElementById(each.getAttribute('aria-labelledby'))?.textContent"
    texts = browser.ask(f"return [...document.querySelectorAll('svg[role=img]')].map((each) => {named})")
    assert len(texts) >= 2
    assert all(text and len(text) > 40 for text in texts)
    assert browser.ask("return document.querySelectorAll('svg:not([role=img]):not(svg svg)').length") == 0


def test_no_moment_is_marked_by_its_colour_alone(browser: Browser, index: Path) -> None:
    browser.open(index)
    lines = "[...document.querySelectorAll('.moment line')]"
    dashes = browser.ask(f"return {lines}.map((each) => each.getAttribute('stroke-dasharray'))")
    names = browser.ask("return [...document.querySelectorAll('.moment text')].map((each) => each.textContent)")
    assert len(set(dashes)) == len(dashes) == len(names) >= 2
    assert all(re.fullmatch(r"[a-z ]+ \d+\.\d+ s", name) for name in names)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_words_of_the_chart_stand_out_from_the_paper(dark: bool, browser: Browser, index: Path) -> None:
    browser.open(index, WIDE_PX, dark)
    contrasts = browser.ask(LUMINANCE)
    assert min(contrasts) >= LEAST_CONTRAST


def test_a_notebook_that_fails_is_reported_and_what_it_made_before_is_kept(browser: Browser, index: Path) -> None:
    browser.open(index)
    text = browser.ask("return document.getElementById('chapter-01-broken').textContent")
    assert "This notebook failed" in text
    assert "the ink is dry" in text
    assert "thesis, figure 0.0: pending, nobody drew it." in text


def test_every_file_that_the_page_offers_is_there(browser: Browser, index: Path) -> None:
    browser.open(index)
    links = browser.ask("return [...document.querySelectorAll('a[href]')].map((each) => each.getAttribute('href'))")
    files = [link for link in links if not link.startswith(("#", "data:"))]
    assert files
    assert [link for link in files if not (index.parent / link).exists()] == []


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_RESULTS", str(results))
        return example(*store(results, 5))[0] / "compare.html"


@pytest.mark.parametrize(
    ("name", "width_px", "dark"),
    [("own_page", NARROW_PX, False), *(("page", width_px, dark) for width_px in (400, 1300) for dark in (False, True))],
)
def test_axe_finds_no_violation_with_everything_open(
    name: str, browser: Browser, dark: bool, width_px: int, request: pytest.FixtureRequest
) -> None:
    browser.open(request.getfixturevalue(name), width_px, dark)
    browser.ask("for (const each of document.querySelectorAll('details')) each.open = true")
    assert violations(browser) == []


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
