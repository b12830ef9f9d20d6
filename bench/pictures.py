# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of the first screen in docs/: taken with the font that matplotlib brings, so that machines agree.

`python -m bench.pictures` takes them again.
"""

import base64
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.image import imread

from lab.base.paths import REPO
from tests.browser import Browser, chromium
from tests.first_screen import example

FOLDER = REPO / "docs" / "assets"
PICTURES = {  # width in pixels, whether dark
    "first-screen-1300-light.png": (1300, False),
    "first-screen-1300-dark.png": (1300, True),
    "first-screen-400-light.png": (400, False),
    "first-screen-400-dark.png": (400, True),
}
TRIALS = 5  # of each sender: enough to rank four by the share at the chokepoint
BLOCK_PX = 10  # differences are of blocks: two versions of Chromium smooth a letter's edge differently
TOLERANCE = 0.02  # of the blocks may differ by more than LEAST
LEAST = 0.1  # of full brightness
Pixels = npt.NDArray[np.float32]
FONT = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"


def picture(name: str) -> Path:
    """Return the stored picture of a name."""
    return FOLDER / name


def take(browser: Browser, page: Path, name: str, target: Path, change: str = "") -> Path:
    """Take a picture of a page's first screen; change: JavaScript that runs before."""
    width, dark = PICTURES[name]
    browser.open(page, width, dark)
    font = base64.b64encode(FONT.read_bytes()).decode()
    face = f"@font-face {{ font-family: pinned; src: url(data:font/ttf;base64,{font}) }}"
    rule = f"{face} * {{ font-family: pinned !important }}"
    browser.ask(
        "document.head.append(Object.assign(document.createElement('style'), { textContent: arguments[0] }))", rule
    )
    browser.driver.execute_async_script("document.fonts.load('1em pinned').then(arguments[arguments.length - 1])")
    browser.ask(change)
    browser.driver.save_screenshot(str(target))
    return target


def apart(one: Path, other: Path) -> float:
    """Return the share of blocks by which two pictures differ; 1 where their sizes differ."""
    blocks = [_blocks(file) for file in (one, other)]
    if blocks[0].shape != blocks[1].shape:
        return 1.0
    return float((np.abs(blocks[0] - blocks[1]).max(axis=-1) > LEAST).mean())


def _blocks(file: Path) -> Pixels:
    pixels: Pixels = imread(file)[..., :3]
    rows, columns = (length // BLOCK_PX for length in pixels.shape[:2])
    whole = pixels[: rows * BLOCK_PX, : columns * BLOCK_PX]
    blocks: Pixels = whole.reshape(rows, BLOCK_PX, columns, BLOCK_PX, 3).mean(axis=(1, 3))
    return blocks


def main() -> None:
    """Take every picture again."""
    with TemporaryDirectory() as folder:
        page = example(Path(folder) / "results", TRIALS)
        with chromium(Path(folder) / "profile") as browser:
            for name in PICTURES:
                print(take(browser, page, name, picture(name)))


if __name__ == "__main__":
    main()
