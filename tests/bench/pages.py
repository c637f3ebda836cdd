"""Pages: how long one takes to be written, to be seen, and how many pictures a second it draws in software.

Beside times on the clock stand those of processors, which other programs do not lengthen.
"""

import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import kronbot

ROBOTS = ("canadarm", "spatial")
SIZE = {"width": 1200, "height": 800}
WATCHED_MS, PATIENCE_MS = 3000, 300_000
PICTURES = 60
# Reading a pixel waits until a picture is there.
MANY = """count => {
  const canvas = document.getElementById("canvas"), gl = canvas.getContext("webgl2"), pixel = new Uint8Array(4);
  const { values } = kronbot.data.steps;
  for (let k = 0; k < count; k++) {
    kronbot.seek((k / count) * (values.at(-1) - values[0]));
    kronbot.draw();
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
  }
}"""
RENDERING = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def compare(rounds=5):
    """Entries of the report, and what is missing: seconds to write and to a first picture, pictures a second, bytes.

    ``opened_s`` are seconds of processors that the browser takes up to the first picture, ``picture_s`` those of one of
    many that are drawn and read back one after another, whatever the rate at which they could be seen.
    """
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
            start, worked = time.perf_counter(), time.process_time()
            answer.view(path)
            first_written, worked = time.perf_counter() - start, time.process_time() - worked
            seen = [_opened(browser, path) for _ in range(rounds)]
            entries.append(
                {
                    "part": "pages",
                    "who": name,
                    "bytes": path.stat().st_size,
                    "written_s": first_written,
                    "worked_s": worked,
                    "first_picture_s": statistics.median(each[0] for each in seen),
                    "pictures_a_second": statistics.median(each[1] for each in seen),
                    "opened_s": None if seen[0][2] is None else min(each[2] for each in seen),
                    "picture_s": None if seen[0][3] is None else min(each[3] for each in seen),
                }
            )
        browser.close()
    return entries, {}


def _opened(browser, path):
    """Seconds from opening to the first picture, pictures a second while it plays, and of processors for either."""
    page = browser.new_page(viewport=SIZE)
    page.set_default_timeout(PATIENCE_MS)
    worked = [_worked()]
    page.goto(path.as_uri())
    while not page.evaluate("window.kronbot && kronbot.drawn() > 0"):
        page.wait_for_timeout(10)
    first = page.evaluate("performance.now()") / 1e3
    worked.append(_worked())
    page.evaluate("kronbot.act('play')")
    before = page.evaluate("[kronbot.drawn(), performance.now()]")
    page.wait_for_timeout(WATCHED_MS)
    after = page.evaluate("[kronbot.drawn(), performance.now()]")
    page.evaluate("kronbot.act('play')")
    worked.append(_worked())
    page.evaluate(MANY, PICTURES)
    worked.append(_worked())
    page.close()
    rate = 1e3 * (after[0] - before[0]) / (after[1] - before[1])
    told = (None, None) if worked[0] is None else (worked[1] - worked[0], (worked[3] - worked[2]) / PICTURES)
    return first, rate, *told


def _worked():
    """Seconds of processors of the processes that descend from this one, living or not; None where nobody tells."""
    if not Path("/proc/self/stat").exists():
        return None
    parents, times = {}, {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = each.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        process = int(each.parent.name)
        parents[process] = int(fields[1])
        times[process] = sum(map(int, fields[11:15]))  # with those of children that have ended
    own, found = {os.getpid()}, set()
    while own:
        found |= own
        own = {process for process, parent in parents.items() if parent in own} - found
    return sum(times.get(process, 0) for process in found - {os.getpid()}) / os.sysconf("SC_CLK_TCK")
