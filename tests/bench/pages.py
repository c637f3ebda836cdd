"""Pages: how long one takes to be written, to be seen, and how many pictures a second it draws in software."""

import shutil
import statistics
import tempfile
import time
from pathlib import Path

import kronbot

ROBOTS = ("canadarm", "spatial")
SIZE = {"width": 1200, "height": 800}
WATCHED_MS = 3000
RENDERING = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def compare(rounds=5):
    """Entries of the report, and what is missing: seconds to write and to a first picture, pictures a second, bytes."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        return [], {"pages": "playwright, or chromium"}
    entries = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=RENDERING)
        for name in ROBOTS:
            answer, path = kronbot.load(name).simulate(), Path(folder) / f"{name}.html"
            start = time.perf_counter()
            answer.view(path)
            first_written = time.perf_counter() - start
            seen = [_opened(browser, path) for _ in range(rounds)]
            entries.append(
                {
                    "part": "pages",
                    "who": name,
                    "bytes": path.stat().st_size,
                    "written_s": first_written,
                    "first_picture_s": statistics.median(each[0] for each in seen),
                    "pictures_a_second": statistics.median(each[1] for each in seen),
                }
            )
        browser.close()
    return entries, {}


def _opened(browser, path):
    """Seconds from opening to the first picture, and pictures a second while it plays."""
    page = browser.new_page(viewport=SIZE)
    page.goto(path.as_uri())
    while not page.evaluate("window.kronbot && kronbot.drawn() > 0"):
        page.wait_for_timeout(10)
    first = page.evaluate("performance.now()") / 1e3
    page.evaluate("kronbot.act('play')")
    before = page.evaluate("[kronbot.drawn(), performance.now()]")
    page.wait_for_timeout(WATCHED_MS)
    after = page.evaluate("[kronbot.drawn(), performance.now()]")
    page.close()
    return first, 1e3 * (after[0] - before[0]) / (after[1] - before[1])
