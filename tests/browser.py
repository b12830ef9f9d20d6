# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless Chromium for tests of pages: what it shows, what its console prints, what it requests from the network."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

PATIENCE_S = 60
OPTIONS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars"
)


class Browser:
    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, page: Path, width: int = 1200, dark: bool = False) -> None:
        """Open a page from disk in a window so wide, in a light or dark scheme; wait until its trial is drawn."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.get(page.resolve().as_uri())
        self.wait("return !document.getElementById('browser') || document.getElementById('browser').dataset.shown")

    def choose(self, select: str, value: str) -> None:
        """Pick an option of a select, as a reader does."""
        picked = "const select = document.querySelector(arguments[0]); select.value = arguments[1]; "
        self.ask(f"{picked}select.dispatchEvent(new Event('change', {{bubbles: true}}))", select, value)

    def ask(self, script: str, *arguments: Any) -> Any:
        """Run JavaScript on the page and return its answer."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, script: str) -> Any:
        """Wait until JavaScript answers something true."""
        return WebDriverWait(self.driver, PATIENCE_S).until(lambda _: self.ask(script))

    def press(self, part: str, *keys: str) -> None:
        """Focus a part of the trial browser and press keys there."""
        element = self.driver.find_element(By.CSS_SELECTOR, f'[data-part="{part}"]')
        self.ask("arguments[0].focus()", element)
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def text(self, part: str) -> str:
        return str(self.ask(f"return document.querySelector('[data-part=\"{part}\"]').textContent"))

    def complaints(self) -> list[str]:
        """Return what the console printed since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]

    def requests(self) -> list[str]:
        """Return the addresses that were requested since the last call."""
        entries = self.driver.get_log("performance")  # type: ignore[no-untyped-call]
        messages = [json.loads(entry["message"])["message"] for entry in entries]
        requested = [message["params"] for message in messages if message["method"] == "Network.requestWillBeSent"]
        return [str(params["request"]["url"]) for params in requested]


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """Start a browser; the test skips where Chromium or its driver is not installed (scripts/setup-tests)."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not binary or not driver:
        pytest.skip("chromium and chromedriver are not installed: scripts/setup-tests installs them where it can")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for option in (*OPTIONS.split(), f"--user-data-dir={profile}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield Browser(started)
    finally:
        started.quit()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


# A figure is one image with a text: its thousands of parts are nothing that a reader meets.
RUN = """const done = arguments[arguments.length - 1];
axe.run({ exclude: [["svg > *"]] }).then((found) => done(found.violations))"""


def violations(browser: Browser) -> list[str]:
    """Return a line per rule that axe-core (of axe-core-python) finds broken on the page, with the elements."""
    browser.ask(files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    browser.driver.set_script_timeout(PATIENCE_S)
    found = browser.driver.execute_async_script(RUN)
    return [f"{each['id']}: {each['help']}: {[node['html'][:160] for node in each['nodes'][:4]]}" for each in found]
