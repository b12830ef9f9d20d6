# SPDX-License-Identifier: GPL-2.0-or-later
"""What axe-core finds on the page that a browser shows; its script comes with the package axe-core-python."""

from importlib.resources import files

from tests.browser import PATIENCE_S, Browser

# A figure is one image with a text: its thousands of parts are nothing that a reader meets.
RUN = """const done = arguments[arguments.length - 1];
axe.run({ exclude: [["svg > *"]] }).then((found) => done(found.violations))"""


def violations(browser: Browser) -> list[str]:
    """Return a line per violation: the rule, and the elements that break it."""
    browser.ask(files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    browser.driver.set_script_timeout(PATIENCE_S)
    found = browser.driver.execute_async_script(RUN)
    return [f"{each['id']}: {each['help']}: {[node['html'][:160] for node in each['nodes'][:4]]}" for each in found]
