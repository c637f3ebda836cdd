"""Pages: what stands in them is read back, from the scene in Chromium; how they look, people have seen."""

import base64
import hashlib
import json
import os
import shutil
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest
from robots_in_tests import BOOM, model
from thinned import rare
from waiting import PATIENCE

import kronbot
from kronbot.cli.main import run
from kronbot.description import read
from kronbot.errors import ComputationError, Failure, KronbotError, UsageError
from kronbot.library.robot import Robot
from kronbot.mechanics.motion.integration import Tolerances
from kronbot.mechanics.multibody import drawing
from kronbot.mechanics.multibody.rotations import of_roll_pitch_yaw
from kronbot.plots.page import decimated, document, pages
from kronbot.plots.page import robot as shown_robot
from kronbot.plots.page.robot import Shown
from kronbot.questions import judgement
from kronbot.questions.verdict import AN_INSTANT

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# The processor draws it all: in a page that is drawn at once, only scenes are worth a driver of graphics.
BROWSER = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-gpu-rasterization"]
ELASTIC = """
kronbot: 1
name: elastic
convention: standard
gravity: [0, 0, 0]
links:
  - name: upper
    joint: {type: revolute, name: q1, elastic: {stiffness: 100}, rotor_inertia: 0.1}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1}
  - name: fore
    joint: {type: revolute, name: q2, elastic: {stiffness: 100}, rotor_inertia: 0.1}
    dh: {a: 0.5, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1}
"""
HUNG = """
kronbot: 1
name: luffing
gravity: [0, -9.81, 0]
links:
  - {name: boom, joint: {type: revolute, name: luff}, pose: {}, rigid: {mass: 2, com: [0.5, 0, 0]}}
  - {name: hook, joint: {type: revolute, name: sway}, pose: {xyz: [1, 0, 0]}, rigid: {mass: 1, com: [0.4, 0, 0]}}
"""
FLOATING = """
kronbot: 1
name: floating
convention: standard
gravity: [0, 0, 0]
base: {type: floating, rigid: {mass: 100, inertia: {Ixx: 20, Iyy: 30, Izz: 30}}}
links:
  - name: upper
    joint: {type: revolute, name: q1}
    dh: {a: 2, d: 0.3, alpha: pi/2, theta: 0}
    rigid: {mass: 5}
elements:
  - {name: cylinder, type: spring, between: [base, upper], points: [[0.2, 0, 0], [-0.6, 0, 0.1]], stiffness: 9, rest: 1}
"""
# In place of a driver of graphics, which takes a second to compile what paints a page: it takes everything.
UNPAINTED = """
const real = HTMLCanvasElement.prototype.getContext, GL = WebGL2RenderingContext;
const told = {
  getContextAttributes: () => ({}), getExtension: () => null, getProgramInfoLog: () => "", getShaderInfoLog: () => "",
  getParameter: name => (
    {[GL.VERSION]: "WebGL 2.0", [GL.SCISSOR_BOX]: [0, 0, 0, 0], [GL.VIEWPORT]: [0, 0, 0, 0]}[name] ?? 4096),
  getShaderPrecisionFormat: () => ({precision: 23}), getProgramParameter: (_, n) => +(n === GL.LINK_STATUS),
};
HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
  if (!kind.startsWith("webgl")) return real.call(this, kind, ...more);
  return new Proxy({canvas: this}, {get: (gl, name) => gl[name] ?? GL[name] ?? told[name] ?? (() => ({}))});
};
"""
HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"


@pytest.fixture(scope="module")
def tabs():
    """Of a browser without a network; the tests that want it are left out, loudly, where there is none.

    One for all pages, whose process has compiled what stands in each of them, and one for those that are painted.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="NO BROWSER TESTS: playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("NO BROWSER TESTS: there is no chromium here; apt-get install chromium has them run")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=BROWSER, timeout=1000 * PATIENCE)
        made = []
        for painted in (False, True):
            # Few pixels: the processor draws them all.
            context = browser.new_context(
                viewport={"width": 1000, "height": 700}, device_scale_factor=0.1, offline=True
            )
            context.set_default_timeout(1000 * PATIENCE)
            if not painted:
                context.add_init_script(UNPAINTED)
            made.append(context.new_page())
        yield made
        browser.close()


@pytest.fixture
def opened(tabs, tmp_path):
    """Open the page of an answer; nothing is requested meanwhile, and nothing goes wrong. Few have to be painted."""

    @contextmanager
    def open_page(answer, painted=False):
        tab = tabs[painted]
        path = tmp_path / "page.html"
        answer.view(file=path, overwrite=True)
        heard, wrong, requested = {}, [], []
        heard["console"] = lambda message: wrong.append(message.text)
        heard["pageerror"] = lambda error: wrong.append(str(error))
        heard["request"] = lambda request: requested.append(request.url)
        for event, hear in heard.items():
            tab.on(event, hear)
        try:
            tab.goto(path.as_uri())
            until(tab, "window.kronbot && kronbot.drawn() > 0")
            yield tab
            assert (wrong, requested) == ([], [path.as_uri()])
        finally:
            for event, hear in heard.items():
                tab.remove_listener(event, hear)
            tab.goto("about:blank")  # where nothing moves while other tests are at work

    return open_page


def until(page, condition):
    """Wait for something in a page; what playwright has for this evaluates text in it, which no page of ours allows."""
    end = time.monotonic() + PATIENCE
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"the page never came to {condition}"
        page.wait_for_timeout(20)


@cache
def motion(name="spatial", order="1"):
    return kronbot.load(name, order=order).simulate(duration=0.5, step=0.025)


def data_of(html):
    """The data in a page."""
    start = html.index('id="data">') + len('id="data">')
    return json.loads(html[start : html.index("</script>", start)])


@pytest.mark.slow
def test_the_drawn_tip_is_that_of_the_series(opened):
    """At ten stored steps, as the scene has it."""
    answer = motion()
    wanted = np.column_stack([answer[f"endpoint.{axis}"] for axis in "xyz"])
    rows = np.linspace(0, len(wanted) - 1, 10).round().astype(int)
    drawn = "rows => rows.map(k => { kronbot.seek(kronbot.data.steps.values[k]); return kronbot.tip() })"
    with opened(answer) as page:
        np.testing.assert_allclose(page.evaluate(drawn, rows.tolist()), wanted[rows], rtol=0, atol=1e-6)


@pytest.mark.slow
def test_a_plan_moves_as_planned(opened, tmp_path, monkeypatch):
    """From rest to rest, with the plan's columns below; the command line writes the same."""
    monkeypatch.setattr(judgement, "judged", lambda *given: {})  # which is not drawn
    monkeypatch.setattr(judgement, "FINE", Tolerances(1e-7, 1e-9))
    words = ["--to", "q1=1", "--duration", "1", "-q"]
    text = ELASTIC[: ELASTIC.index("  - name: fore")].replace(", elastic: {stiffness: 100}", "")
    robot = Robot(model(text))
    answer = robot.plan({"q1": 1}, duration=1)
    with opened(answer) as page:
        for t in (0.0, 1.0):
            page.evaluate("t => kronbot.seek(t)", t)
            q = [answer[name][-1 if t else 0] for name in robot.coordinates]
            assert page.evaluate("kronbot.tip()") == pytest.approx(robot.kinematics(q=q)["T"][:3, 3], abs=1e-6)
    file, written = tmp_path / "elastic.yaml", tmp_path / "plan.html"
    file.write_text(text)
    assert run(["plan", os.fspath(file), *words, "--view", os.fspath(written)]) == 0
    assert written.read_text() == answer.view().html


@pytest.mark.slow
def test_keys_and_hands_move_it(opened):
    with opened(motion(), painted=True) as page:
        at = "kronbot.state.at"
        page.keyboard.press("ArrowRight")
        assert page.evaluate(at) == pytest.approx(0.025)
        page.keyboard.press("Shift+ArrowRight")
        assert page.evaluate(at) == pytest.approx(0.275)
        page.keyboard.press("End")
        assert page.evaluate(at) == 0.5
        page.set_viewport_size({"width": 940, "height": 700})  # charts are built anew, with the cursor where it was
        there = "parseFloat(document.querySelector('.now').style.transform.split('(')[1])"
        try:
            until(page, f"{there} > 0.99 * document.querySelector('.u-over').clientWidth")
        finally:
            page.set_viewport_size({"width": 1000, "height": 700})
        page.keyboard.press("l")
        page.keyboard.press(" ")  # from the start again, once
        until(page, "!kronbot.state.playing")
        assert page.evaluate(at) == 0.5
        page.keyboard.press("Home")
        over = page.locator(".u-over").first.bounding_box()
        page.mouse.move(over["x"] + 2, over["y"] + 20)
        page.mouse.down()
        page.mouse.move(over["x"] + over["width"] / 2, over["y"] + 20)
        page.mouse.up()
        assert page.evaluate(at) == pytest.approx(0.25, abs=0.01)
        page.locator("#step").fill("0.1")
        assert page.evaluate(at) == 0.1
        for key in "xyzfogtbandd":
            page.keyboard.press(key)
        page.keyboard.press("?")
        assert page.locator("#help").is_visible()


@pytest.mark.slow
def test_another_size_is_drawn_at_once(opened):
    """It empties the canvas behind what is drawn for a frame: without more this frame, or a screenshot, shows none."""
    with opened(kronbot.load("khang").kinematics(), painted=True) as page:
        page.evaluate("new Promise(done => setTimeout(done, 200))")  # at rest
        drawn = page.evaluate("""() => new Promise(done => {
            const stage = document.getElementById("stage");
            let before = null;
            new ResizeObserver(() => {
                if (before !== null) done(kronbot.drawn() - before);
                else requestAnimationFrame(() => { before = kronbot.drawn(); stage.style.flex = "0 0 300px"; });
            }).observe(stage);
        })""")
    assert drawn == 1


@pytest.mark.slow
def test_gravity_is_within_the_picture(opened):
    """Also in a narrow window; and no number of the table is -0."""
    answer = kronbot.load("khang").statics()
    assert answer["reaction.fx"][0] == 0 and all(text != "-0" for _, text in data_of(answer.view().html)["numbers"])
    with opened(answer) as page:
        page.set_viewport_size({"width": 420, "height": 700})
        try:
            page.wait_for_timeout(100)
            page.keyboard.press("f")
            page.evaluate("kronbot.draw()")
            word, stage = (page.locator(which).bounding_box() for which in ("#names .axis:last-child", "#stage"))
            assert stage["x"] <= word["x"] and word["x"] + word["width"] <= stage["x"] + stage["width"]
        finally:
            page.set_viewport_size({"width": 1000, "height": 700})


@pytest.mark.slow
def test_all_of_a_robot_is_in_the_picture(opened):
    """With its bodies, in every frame, at every width, in either projection, exaggerated or not: by the corners of all
    that is drawn."""

    def look(page, frames):
        spans = []
        for frame in frames:
            page.evaluate(frame)
            spans.append(page.evaluate("kronbot.span()"))
        (low, high) = np.min(spans, axis=0)[:, 0], np.max(spans, axis=0)[:, 1]
        assert (low > -0.97).all() and (high < 0.97).all()
        return high - low

    still = kronbot.load("puma560").statics(q={"q2": 0.8})
    steps = [f"kronbot.seek({t})" for t in (0, 0.25, 0.5)]
    modes = [f"kronbot.state.mode = {k}, kronbot.state.phase = {phase}" for k in (0, 2) for phase in (-1.571, 1.571)]
    for answer, frames in ((still, ["1"]), (motion(), steps), (kronbot.load("spatial").modes(), modes)):
        with opened(answer) as page:
            try:
                for size in ((1000, 700), (420, 700)):
                    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
                    page.wait_for_timeout(100)
                    assert look(page, frames).max() > 1
                    for keys in ("x", "oy", "]]]]]]f"):
                        for key in keys:
                            page.keyboard.press(key)
                        look(page, frames)
                    page.keyboard.press("o")
            finally:
                page.set_viewport_size({"width": 1000, "height": 700})


@pytest.mark.slow
def test_keys_turn_the_view_about_the_middle(opened):
    """To the side and over the top, not beyond it, nearer and farther, in either projection; and back again."""
    eye = "kronbot.eye()"
    with opened(kronbot.load("khang").kinematics()) as page:
        for _ in range(2):
            begin, up = np.array(page.evaluate(eye)), np.array(page.evaluate("kronbot.data.up"))
            page.keyboard.press("k")
            turned = np.array(page.evaluate(eye))
            assert turned @ up == pytest.approx(begin @ up, abs=1e-9)
            assert np.linalg.norm(turned - begin) > 0.05 * np.linalg.norm(begin)
            page.keyboard.press("u")
            assert np.array(page.evaluate(eye)) @ up > turned @ up
            for key in "jh":
                page.keyboard.press(key)
            assert page.evaluate(eye) == pytest.approx(begin, rel=1e-6, abs=1e-9)
            page.keyboard.press("+")
            page.keyboard.press("-")
            assert page.evaluate(eye) == pytest.approx(begin, rel=1e-6, abs=1e-9)
            for _ in range(30):
                page.keyboard.press("u")
            high = np.array(page.evaluate(eye))
            assert 0.999 < high @ up / np.linalg.norm(high) < 1
            for key in "jjjjjjo":
                page.keyboard.press(key)


@pytest.mark.slow
def test_deflections_are_exaggerated_and_nothing_else(opened):
    """Ten times as far from where the joints would have it, to first order in the deflections."""
    answer = motion()
    straight = kronbot.load("spatial", order="0")
    with opened(answer) as page:
        page.evaluate("kronbot.seek(0.5); kronbot.exaggerate(1)")
        q = {name: answer[name][-1] for name in straight.joints}
        rest = straight.kinematics(q=q)["T"][:3, 3]
        there = np.array([answer[f"endpoint.{axis}"][-1] for axis in "xyz"])
        moved = np.array(page.evaluate("kronbot.tip()"))
        assert moved - rest == pytest.approx(10 * (there - rest), abs=0.1 * float(np.linalg.norm(10 * (there - rest))))
        assert "exaggerated" in page.locator("#times").inner_text()
        # The trail follows, a little later.
        until(page, f"Math.abs(kronbot.trail().at(-1) - {moved[2]}) < 1e-6 && kronbot.trail().at(-1) !== {there[2]}")
        page.keyboard.press("1")
        assert page.evaluate("kronbot.tip()") == pytest.approx(there, abs=1e-6)


@pytest.mark.slow
def test_sliders_are_kinematics(opened):
    robot = kronbot.load("spatial", order="1")
    with opened(robot) as page:
        boxes = page.locator("input[type=number]")
        q = [0.4, 0.9, 0.1, -0.6, 0.02, -0.01, 0.03, 0.005, 0.1, 0.02, 0, 0.03, 0.1]
        q = dict(zip(robot.coordinates, q, strict=False))
        for i, name in enumerate(robot.coordinates):
            boxes.nth(i).fill(str(q.get(name, 0)))
            boxes.nth(i).press("Tab")
        found = page.evaluate("kronbot.pose()")
    pose = robot.kinematics(q=q)["pose"][0]
    assert [*found["position"], *found["angles"]] == pytest.approx(pose[:6], abs=1e-9)


@pytest.mark.slow
def test_angles_at_a_pitch_of_a_quarter_turn_make_the_rotation(opened):
    """Roll and yaw turn about one axis there, and are no rounding."""
    robot = kronbot.load("puma560")
    answer = robot.kinematics(inverse=[0.4, 0.1, 0.3, 0, np.pi / 2, 0])
    with opened(answer) as page:
        found = page.evaluate("kronbot.pose()")
    R = robot.kinematics(q=answer.at["q"])["T"][:3, :3]
    np.testing.assert_allclose(of_roll_pitch_yaw(np.array(found["angles"])), R, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_half_a_turn_is_that_of_kinematics(opened):
    """A tool that points down: the sign of pi is none of rounding."""
    robot = kronbot.loads(
        "kronbot: 1\nname: down\ngravity: [0, 0, 0]\nlinks:\n"
        "  - {name: a, joint: {type: revolute, name: q1}, pose: {}, rigid: {mass: 1, com: [1, 0, 0]}}\n"
        "  - {name: b, joint: {type: fixed}, pose: {xyz: [1, 0, 0], rpy: [pi, 0, 0]}, rigid: {mass: 1}}\n"
    )
    for q1 in (0.3, -0.3, np.pi):
        answer = robot.kinematics(q=[q1])
        with opened(answer) as page:
            found = page.evaluate("kronbot.pose()")
        assert found["angles"] == pytest.approx(answer["pose"][0, 3:6], abs=1e-12)
        assert min(found["angles"]) > -3.14


@pytest.mark.slow
def test_ellipsoids_are_seen_without_bodies(opened):
    """And the numbers have their colours, and it is told whose velocities they are."""
    with opened(kronbot.load("puma560").jacobian(q=[0.1, 0.8, 0.5, 0.3, 0.8, 0])) as page:
        assert page.locator("#note").inner_text().startswith("endpoint, joint rates of norm 1")
        assert page.locator("[data-do=bodies]").get_attribute("aria-pressed") == "false"
        side = page.evaluate("[...document.querySelectorAll('#side td:first-child')].map(e => e.style.borderLeftColor)")
    assert len(set(side)) == 2 and all(side)


@pytest.mark.slow
def test_shafts_go_with_their_motors(opened):
    """Sliders of links behind them say how far they yield."""
    robot = kronbot.loads(ELASTIC)
    with opened(robot) as page:
        boxes = page.locator("input[type=number]")
        for i, value in enumerate([0.05, 0.7, -0.02, -0.4]):  # q1, q1.motor, q2, q2.motor
            boxes.nth(i).fill(str(value))
            boxes.nth(i).press("Tab")
        found = page.evaluate("kronbot.pose()")
    q = {"q1": 0.75, "q1.motor": 0.7, "q2": -0.42, "q2.motor": -0.4}
    assert tuple(q) == robot.coordinates
    assert found["position"] == pytest.approx(robot.kinematics(q=q)["pose"][0, :3], abs=1e-9)


@pytest.mark.slow
def test_the_function_of_the_page_is_the_trace(opened):
    """Every frame and section, also where it is handed on in parts."""
    robot = kronbot.load("spatial", order="exact")
    q = np.linspace(-0.3, 0.4, robot.n)
    with opened(robot.kinematics(q=q.tolist())) as page:
        size = data_of(page.content())["robot"]["numbers"]
        fill = "([q, size]) => { const y = new Float64Array(size); kronbotScene(q, y); return [...y]; }"
        found = page.evaluate(fill, [q.tolist(), size])
    assert found == pytest.approx(np.asarray(drawing.scene(robot.model, 25)(q)).ravel(), abs=1e-12)


@pytest.mark.slow
def test_modes_swing_by_a_tenth_of_the_robot(opened):
    answer = kronbot.load("canadarm").modes(q=[0, 0.5, 0.2])
    with opened(answer) as page:
        size = page.evaluate("kronbot.data.robot.size")
        assert page.locator(".mode").count() == len(data_of(page.content())["modes"]["list"])
        page.locator(".mode").nth(2).click()
        page.evaluate("kronbot.state.playing = false; kronbot.state.phase = 0")
        rest = np.array(page.evaluate("kronbot.tip()"))
        written = page.locator("#where").inner_text().removeprefix("endpoint drawn at ").removesuffix(" m").split(", ")
        assert [float(each) for each in written] == pytest.approx(rest, rel=1e-4, abs=1e-11)
        assert all(value == 0 or abs(value) > 1e-12 for value in map(float, written))  # no rounding
        page.evaluate("kronbot.state.phase = Math.PI / 2")
        way = np.linalg.norm(np.array(page.evaluate("kronbot.tip()")) - rest)
        assert 0.01 * size < way < 0.11 * size


@pytest.mark.slow
@pytest.mark.parametrize(
    "ask",
    [
        lambda: kronbot.load("torso").jacobian(),
        lambda: kronbot.load("khang").linearize(q={"qa": 0.3}),
        lambda: kronbot.load("puma560").kinematics(q=6 * [0.1], inverse={"x": 0.4, "z": 0.3}, starts=3),
    ],
    ids=["jacobian", "linearize", "inverse"],
)
def test_every_page_opens(opened, ask):
    with opened(ask(), painted=True) as page:
        page.keyboard.press("ArrowRight")


@pytest.mark.slow
def test_a_sweep_has_its_cases(opened, tmp_path, swept_here):
    """In the postures that they vary, failed ones too; what the command line writes is what the library has."""
    robot = kronbot.load("canadarm-craig-bampton")
    over = {"EI": [1e5, -1], "q2": [0.1, 0.5]}
    with opened(robot.sweep("modes", over=over, workers=1)) as page:
        for k, q2 in enumerate([0.1, 0.5, 0.1, 0.5]):
            page.evaluate("k => kronbot.seek(k)", k)
            assert page.evaluate("kronbot.tip()") == pytest.approx(
                robot.kinematics(q={"q2": q2})["pose"][0, :3], abs=1e-9
            )
        assert page.locator("#now").inner_text() == "case 4: failed, EI = -1, q2 = 0.5"
        assert "file's EI" in page.locator("#note").inner_text()
        page.locator("#case").select_option(index=2)
        assert page.evaluate("kronbot.state.at") == 2
        page.evaluate("kronbot.seek(1)")
        html = (tmp_path / "page.html").read_text()
        curves = data_of(html)["curves"]
        place = next(i for i, each in enumerate(curves["series"]) if each["hertz"])
        first = curves["series"][place]["values"]
        number = f"document.querySelectorAll('#list output')[{place}].textContent"
        until(page, f"Math.abs(parseFloat({number}) / {first[3]} - 1) < 1e-4")  # numbers come a little later
        omega, hertz = page.evaluate(number).removesuffix(" Hz").split(", ")
        assert float(hertz) * 2 * np.pi == pytest.approx(float(omega), rel=1e-4)
        over = page.locator(".u-over").first.bounding_box()
        page.mouse.click(over["x"] + 1, over["y"] + 20)  # the smallest value, at the same value of the other
        assert page.evaluate("kronbot.state.at") == 3
    # Over what varies, slice by slice for the other value; no curve where cases have failed.
    assert curves["over"] == {"name": "EI", "unit": "", "values": [-1, 1e5]} and curves["rows"] == [3, 1, 4, 2]
    assert first[::2] == [None, None]
    file = tmp_path / "sweep.html"
    words = ["--over", "EI=1e5,-1", "--over", "q2=0.1,0.5", "--workers", "1", "-q", "--view", os.fspath(file)]
    assert run(["sweep", "modes", "canadarm-craig-bampton", *words]) == 0
    assert file.read_text() == html


def test_pages_have_the_posture_that_all_cases_share(swept_here):
    """Where a case has failed, too; angles that are found are drawn where they are kept, else it is said."""
    robot = kronbot.loads(HUNG)

    def told(result):
        data = data_of(result.view().html)
        return np.array(data["steps"]["states"]), data

    over = {"force.y": [-1.0, -2.0]}
    given = {"q": {"luff": -1.0, "sway": 0.4}, "tau": {"luff": 0.0}}
    kept = robot.sweep("statics", over=over, keep=["angle.luff", "endpoint.y"], workers=1, **given).result()
    bare = robot.sweep("statics", over=over, keep="endpoint.y", workers=1, **given).result()
    states, content = told(kept)
    assert states[:, 0] == pytest.approx(kept["angle.luff"]) and states[:, 1] == pytest.approx([0.4, 0.4])
    assert "note" not in content
    states, content = told(bare)
    assert states[:, 0] == pytest.approx([-1.0, -1.0]) and "keep angle.luff" in content["note"]
    moved = robot.sweep("jacobian", over={"sway": [0.1, 0.2]}, keep="J_T[x,luff]", workers=1, q={"luff": 0.7}).result()
    assert told(moved)[0] == pytest.approx(np.array([[0.7, 0.1], [0.7, 0.2]]))


@pytest.mark.slow
def test_measured_points_are_drawn_where_they_were_measured(opened):
    """At every row, 1e-6 m; errors are exaggerated from where the point is computed."""
    robot, q = kronbot.load("khang"), np.linspace(0, 0.6, 4)
    told = robot.statics(q=q[:, None])
    table = {"qa": q} | {f"endpoint.{axis}": told[f"endpoint.{axis}"] + 0.01 * q for axis in "xy"}
    with opened(robot.fit(table, estimate="l", sigma={"endpoint": 1e-3})) as page:
        for row in (0, 3):
            page.evaluate("row => kronbot.seek(row)", row)
            (drawn,) = page.evaluate("kronbot.measured()")
            tip = np.array(page.evaluate("kronbot.tip()"))
            assert drawn[:2] == pytest.approx([table["endpoint.x"][row], table["endpoint.y"][row]], abs=1e-6)
        page.evaluate("kronbot.exaggerate(1)")
        (far,) = page.evaluate("kronbot.measured()")
        assert np.array(far) - page.evaluate("kronbot.tip()") == pytest.approx(10 * (np.array(drawn) - tip), abs=1e-5)
        assert "Parameters" in page.locator("#report").inner_text()
        assert page.locator("[data-do=points]").get_attribute("aria-pressed") == "true"


@pytest.mark.slow
def test_names_are_shown_and_not_run(opened, tmp_path):
    text = read("khang").text.replace("name: khang", f"name: {json.dumps(HOSTILE)}", 1)
    file = tmp_path / "hostile.yaml"
    file.write_text(text)
    answer = kronbot.load(file).kinematics()
    with opened(answer) as page:
        page.keyboard.press("n")
        assert HOSTILE in page.locator("#title").inner_text()
        assert page.evaluate("window.hacked === undefined && document.scripts.length === 3")


class Tags(HTMLParser):
    """Elements of a page in their order, with attributes; texts of scripts and styles."""

    def __init__(self, html):
        super().__init__()
        self.found, self.texts = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.found and self.found[-1][0] in ("script", "style") and data.strip():
            self.texts.append((self.found[-1], data))


def hashed(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_only_what_is_named_by_its_hash_runs():
    tags = Tags(motion("khang", "2").view().html)
    names = [tag for tag, _ in tags.found]
    (policy,) = [attrs["content"] for _, attrs in tags.found if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert names.index("script") > names.index("meta") + 1
    assert tags.found[names.index("meta") + 1][1]["content"] == policy  # right after the encoding
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    scripts = [text for (tag, attrs), text in tags.texts if tag == "script" and not attrs]
    assert rules.pop("script-src").split() == list(map(hashed, scripts))
    assert rules.pop("style-src") == hashed(next(text for (tag, _), text in tags.texts if tag == "style"))
    assert rules == {"default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'"}
    assert not [attrs for _, attrs in tags.found if attrs.keys() & {"src", "href", "style", "onclick"}]


def test_the_bundle_is_that_of_the_sources():
    """npm run build in the folder of the page makes it anew."""
    folder = document.FOLDER
    names = [*sorted((folder / "source").iterdir(), key=lambda path: path.name), folder / "build.mjs"]
    content = b"".join(path.read_bytes() for path in [*names, folder / "package-lock.json"])
    bundle = (folder / "built" / "page.js").read_text()
    assert bundle.startswith(f"/* sources {hashlib.sha256(content).hexdigest()} */")
    assert "</script" not in bundle and "<!--" not in bundle
    licences = (folder / "built" / "LICENSES.txt").read_text()
    assert licences.count("Permission is hereby granted, free of charge") == 2
    assert "three.js 0.187.0" in licences and "uPlot 1.6.32" in licences


@pytest.mark.slow
def test_lists_of_cases_end_between_entries(opened):
    """What has no room in them stands below."""
    robot = kronbot.load("canadarm-craig-bampton")
    angles = {"q1": [0.123456, 1], "q2": [0.123456, 1], "q3": [0.5]}
    with opened(robot.statics(angles=angles, forces=[[0, 0, 1.5], [0, 2, 0]], order="1")) as page:
        texts = page.locator("#case option").all_inner_texts()
        whole = data_of(page.content())["steps"]["labels"]
        for text, label in zip(texts, whole, strict=True):
            assert label.startswith(text.removesuffix("...")) and (text == label or text.endswith(", ..."))
        assert any(text != label for text, label in zip(texts, whole, strict=True))
        assert page.locator("#now").inner_text() == whole[0]
        width = page.locator("#case").evaluate("each => [each.scrollWidth, each.clientWidth]")
        assert width[0] <= width[1]


@pytest.mark.slow
def test_without_webgl_there_are_curves_and_no_names(tabs, tmp_path):
    """Names would stand nowhere; what changes the view alone does nothing."""
    path = tmp_path / "page.html"
    kronbot.load("canadarm-craig-bampton").modes().view(file=path)
    browser = tabs[0].context.browser.browser_type.launch(executable_path=CHROMIUM, args=["--disable-3d-apis"])
    try:
        page = browser.new_page()
        page.goto(path.as_uri())
        until(page, "window.kronbot !== undefined")
        page.evaluate("kronbot.draw()")
        assert not page.locator("#names").is_visible() and not page.locator("[data-do=fit]").is_visible()
        assert "no WebGL" in page.locator("#note").inner_text() and "rad/s" in page.locator("#note").inner_text()
    finally:
        browser.close()


@pytest.mark.slow
def test_a_robot_without_coordinates_is_a_page(opened):
    text = (
        FLOATING.partition("base:")[0]
        + """
links:
  - name: post
    joint: {type: fixed}
    dh: {a: 1, d: 0, alpha: 0, theta: 0}
    rigid: {mass: 1}
"""
    )
    with opened(kronbot.loads(text)) as page:
        assert page.evaluate("kronbot.tip()") == [1, 0, 0]


@pytest.mark.slow
def test_long_runs_fit():
    """A hundred thousand rows, with every peak, in less than a megabyte more than a few of them."""
    answer = motion()
    count = 100_000
    t = np.linspace(0, 10, count)
    series = {name: np.tile(column, count // len(column) + 1)[:count] for name, column in answer.series.items()}
    series["tip.boom.y"] = series["tip.boom.y"].copy()
    series["tip.boom.y"][54321] = 7.5
    html = replace(answer, series={**series, "t": t}).view().html
    assert len(html) < document.MOST
    curves = {each["name"]: each["values"] for each in data_of(html)["curves"]["series"]}
    assert max(curves["tip.boom.y"]) == 7.5
    with pytest.raises(KronbotError, match="too large"):
        document.document("", {"data": "x" * document.MOST}, "0")


def test_curves_keep_what_is_seen():
    """The smallest and the largest value of every part, in their order; short ones are left as they are."""
    over = np.arange(20_000.0)
    wave = np.sin(over**1.5)
    places, found = decimated.curves(over, {"wave": wave, "slope": -over})
    assert len(places) == len(found["wave"]) == decimated.POINTS
    assert (np.diff(places) > 0).all() and (places[0], places[-1]) == (over[0], over[-1])
    assert (found["wave"].min(), found["wave"].max()) == (wave.min(), wave.max())
    assert (np.diff(found["slope"]) <= 0).all()
    assert decimated.curves(over[:100], {"wave": wave[:100]})[1]["wave"] is not None
    assert len(decimated.rows(50, 3)) == 50


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("spatial", "1"),
        rare("torso", "0"),
        ("canadarm", "exact"),
        rare("puma560", "2"),
        rare("spatial", "2"),
    ],
)
def test_a_scene_has_the_frames_of_kinematics(name, order):
    """By the recursion over frames; sections end in the tip frame of their beam, and their axes are orthonormal."""
    robot = kronbot.load(name, order=order)
    q = 0.1 * np.sin(np.arange(1, robot.n + 1))
    y, at = np.asarray(drawing.scene(robot.model, 7)(q)).ravel(), 0
    names = [link.name for link in robot.model.links]
    T = robot.kinematics(q=q.tolist(), frame=[frame for name in names for frame in (f"{name}:root", name)])["T"]
    frames = T.reshape(-1, 2, 4, 4)
    for link, pair in zip(robot.model.links, frames, strict=True):
        root, tip = (y[at + first : at + first + 12].reshape(4, 3) for first in (6, 18))
        for found, wanted in zip((root, tip), pair, strict=True):
            np.testing.assert_allclose(found, np.vstack([wanted[:3, 3], wanted[:3, :3].T]), atol=1e-12)
        at += drawing.OF_LINK
        if link.beam is not None:
            sections = y[at : at + 7 * drawing.OF_SECTION].reshape(7, 4, 3)
            at += sections.size
            axes = sections[:, 1:]
            np.testing.assert_allclose(axes @ axes.swapaxes(1, 2), np.broadcast_to(np.eye(3), (7, 3, 3)), atol=1e-9)
            np.testing.assert_allclose(root[0] + sections[-1, 0] @ root[1:], tip[0], atol=1e-9)
    assert at == len(y)


def test_elements_and_further_frames_stand_behind_the_links():
    """Both ends of an element, in the frames that it joins; the base that floats is no chain of joints."""
    robot = kronbot.loads(FLOATING)
    q = np.linspace(0.1, 0.7, robot.n)
    base, upper = robot.kinematics(q=q.tolist(), frame=["base", "upper"])["T"].reshape(2, 4, 4)
    ends = [base @ [0.2, 0, 0, 1], upper @ [-0.6, 0, 0.1, 1]]
    shown = Shown(robot.model, ["upper"])
    data, y = shown.data(q[None]), np.asarray(drawing.scene(robot.model, 25, ["upper"])(q)).ravel()
    (at,) = data["elements"]
    np.testing.assert_allclose(y[at : at + 6].reshape(2, 3), [end[:3] for end in ends], atol=1e-12)
    np.testing.assert_allclose(y[shown.place(0) :], upper[:3, 3], atol=1e-12)
    assert [link["label"] for link in data["links"] if not link["free"]] == ["base", "upper, q1"]
    assert data["rigid"] == list(range(7))
    np.testing.assert_array_equal(data["U"], np.eye(7))
    drawn, lengths = drawing.lines(robot.model)(q)[-3:-1], (0, 2)
    for mount, T, end, line, length in zip(data["mounts"], (base, upper), ends, drawn, lengths, strict=True):
        foot, tip = (T @ [*mount[word], 1] for word in ("from", "to"))
        np.testing.assert_allclose(tip, end, atol=1e-12)
        np.testing.assert_allclose(line.T, [foot[:3], tip[:3]], atol=1e-12)
        assert mount["from"] == pytest.approx([np.clip(mount["to"][0], -length, 0), 0, 0], abs=1e-12)


def test_lines_lead_to_bodies_that_nothing_else_holds():
    """A pendulum's bob does not float beside its joint; that of a crank with an endpoint does need no line."""
    bob = (
        "kronbot: 1\nname: bell\ngravity: [0, 0, -9.81]\nlinks:\n"
        "  - {name: rope, joint: {type: revolute, name: swing}, pose: {rpy: [0, pi/2, 0]}, "
        "rigid: {mass: 2, com: [2.5, 0, 0.1]}}\n"
    )
    for text, found in ((bob, [[2.5, 0, 0.1]]), (f"{bob}endpoint: {{link: rope, position: [2.5, 0, 0]}}\n", [])):
        robot = kronbot.loads(text).model
        mounts = Shown(robot, []).data(np.zeros((1, robot.n)))["mounts"]
        assert [each["to"] for each in mounts] == found
        assert all(each["from"] == [0, 0, 0] and each["tip"] for each in mounts)


def test_tendons_know_their_rest():
    """A page tells those that are slack by it; nobody does where it has no value."""
    stay = FLOATING + "  - {name: stay, type: tendon, between: [base, upper], stiffness: 9, rest: L}\n"
    for told, found in (("1.5", [{"first": 1, "count": 1, "rest": 1.5}]), ("", [])):
        robot = kronbot.loads(stay.replace("links:", f"parameters: {{L: {told}}}\nlinks:")).model
        assert Shown(robot, []).data(np.zeros((1, robot.n)))["tendons"] == found


@pytest.mark.slow
def test_small_movements_have_charts_of_their_own():
    """Tips and modal coordinates beside joints, whichever unit both have."""
    curves = {each["name"]: each for each in data_of(motion().view().html)["curves"]["series"]}
    small = {name for name, each in curves.items() if each["small"]}
    assert {"tip.boom.y", "boom.v1", "boom.v1_dot"} <= small
    assert not small & {"t", "q1", "q1_dot", "torque.q1", "endpoint.x", "energy.elastic"}


def test_reactions_are_no_loads():
    """Arrows of a kind have one scale: what the base bears has its own."""
    link = "{name: a, joint: {type: revolute, name: q}, pose: {}, rigid: {mass: 1}}"
    robot = kronbot.loads(f"kronbot: 1\nname: a\ngravity: [0, 0, -9.81]\nlinks: [{link}]\n")
    arrows = data_of(robot.statics(forces=[[0, 2, 0]]).view().html)["arrows"]
    found = {(each["kind"], each["at"]): each["vectors"] for each in arrows}
    loads, reactions = (("force", "moment"), "endpoint"), (("reaction force", "reaction moment"), "base")
    assert [*found] == [(kind, at) for kinds, at in (loads, reactions) for kind in kinds]
    assert found["force", "endpoint"] == [[0, 2, 0]]
    assert found["reaction force", "base"] == [pytest.approx([0, -2, 9.81])]


@pytest.mark.slow
def test_loads_are_arrows(opened):
    """On frames, along beams, on the endpoint, and what the base bears, with names; none is shorter by the latter."""
    answer = kronbot.load("spatial", order="1").statics(
        q={"q2": 0.5}, loads={"boom": [0, 0, -100]}, distributed={"forearm": [0, 30, 0]}, forces=[[0, 50, -20]]
    )
    arrows = data_of(answer.view().html)["arrows"]
    found = [(arrow["kind"], arrow.get("at", arrow.get("along")), arrow["vectors"]) for arrow in arrows]
    reaction = [[answer[f"reaction.f{axis}"][0] for axis in "xyz"]]
    assert found[0] == ("force", "endpoint", [[0, 50, -20]])
    assert found[2] == ("reaction force", "base", pytest.approx(np.array(reaction)))
    assert [each[::2] for each in found[4:]] == [("force", [[0, 0, -100]]), ("line", [[0, 30, 0]])]
    assert found[5][1] == [link.name for link in answer.model.links].index("forearm")
    with opened(answer, painted=True) as page:
        size, drawn = page.evaluate("[kronbot.data.robot.size, kronbot.arrows()]")
    named = {name: length / size for name, length in drawn if name}
    turned = [answer[f"reaction.m{axis}"][0] for axis in "xyz"]
    names = [f"reaction {kind} {np.linalg.norm(each):.5g} {unit}" for kind, each, unit in
             (("force", reaction, "N"), ("moment", turned, "N m"))]  # fmt: skip
    assert [*named] == ["force 53.852 N", *names, "force 100 N", "force 30 N/m"]
    assert [*named.values()] == pytest.approx([0.3 * 0.53852, 0.3, 0.3, 0.3, 0.12], rel=1e-4)
    assert len(drawn) == 9


def test_bodies_are_the_ellipsoids_of_their_inertia():
    """m (b^2 + c^2)/5 about each axis is the moment that the file has."""
    model = kronbot.load("spatial").model
    shown = Shown(model).data(np.zeros((1, model.n)))["bodies"]
    bodies = drawing.carried(model)
    assert len(shown) == len(bodies) == 4
    for body, each in zip(bodies, shown, strict=True):
        R = np.reshape(each["R"], (3, 3)).T
        a, b, c = np.square(each["half"])
        np.testing.assert_allclose(R @ np.diag([b + c, a + c, a + b]) @ R.T * body.mass / 5, body.inertia, atol=1e-12)
    assert [each["payload"] for each in shown] == [False, False, False, True]


@pytest.mark.slow
def test_answers_without_a_page_say_so():
    robot = kronbot.load("canadarm")
    for ask, why in [
        (lambda: robot.dynamics(), "dynamics has no page"),
        (lambda: robot.symbolic().jacobian(), "not formulas"),
        (lambda: robot.jacobian(q=[[0, 0, 0], [1, 1, 1]]), "not rows"),
        (lambda: robot.linearize_along(duration=1), "not linear models along a motion"),
    ]:
        with pytest.raises(UsageError, match=why):
            ask().view()
    with pytest.raises(UsageError, match="ends in .html"):
        robot.jacobian().view("page.txt")
    with pytest.raises(UsageError, match="a path is wanted"):
        robot.jacobian().view(5)
    with pytest.raises(UsageError, match="name one"):
        robot.jacobian().view(open=True)
    assert 'sandbox="allow-scripts"' in robot.jacobian().view()._repr_html_()


def test_a_robot_alone_is_a_page(tmp_path, capsys):
    file = tmp_path / "robot.html"
    robot = kronbot.load("canadarm", order="1")
    assert run(["view", "canadarm", "--order", "1", "--q", "q1=0.5", "-o", os.fspath(file)]) == 0
    assert file.read_text() == robot.view(q={"q1": 0.5}).html
    assert data_of(file.read_text())["q"] == pytest.approx([0.5] + 8 * [0])
    for words, why in [([], "give -o robot.html"), (["-o", "robot.pdf"], "a page ends in .html")]:
        assert run(["view", "canadarm", *words]) == 2
        assert why in capsys.readouterr().err
    with pytest.raises(UsageError, match="not rows"):
        robot.view(q=[[0, 0, 0], [1, 1, 1]])


def test_titles_say_that_coefficients_are_those_of_an_instant():
    """As those of pictures do."""
    robot = kronbot.load("khang")
    still, spun = (data_of(robot.modes(**at).view().html)["title"] for at in ({}, {"qd": {"qa": 2}}))
    assert spun == f"{still}; coefficients frozen at this instant" == "modes of khang, order 2; " + AN_INSTANT


def test_the_command_line_writes_the_same_page(tmp_path, monkeypatch, capsys):
    shown = []
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{os.defpath}")
    monkeypatch.setattr("webbrowser.open", lambda name: not shown.append((name, os.environ["PATH"])))
    file = tmp_path / "page.html"
    assert run(["jacobian", "khang", "--q", "0.1", "--view", os.fspath(file), "--open"]) == 0
    html = kronbot.load("khang").jacobian(q=[0.1]).view().html
    assert file.read_text() == html
    assert shown == [(file.as_uri(), os.defpath)]
    monkeypatch.setattr("webbrowser.open", lambda name: False)
    for words in ([], ["-q"]):
        assert run(["view", "khang", "-o", os.fspath(file), "--overwrite", "--open", *words]) == 0
        told = f"warning: no browser shows {file}: open it yourself"
        assert (told in capsys.readouterr().err) is not bool(words)
    with pytest.raises(Failure, match="no browser shows"):
        pages.show(os.fspath(file))
    for words, why in [
        (["--view", os.fspath(file)], "--overwrite replaces it"),
        (["--view", "page.txt"], "a page ends in .html"),
        (["--open"], "add --view"),
        (["--view", os.fspath(tmp_path / "other.html"), "--symbolic"], "--view draws numbers"),
    ]:
        assert run(["jacobian", "khang", *words]) == 2
        assert why in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("modes", ["{v: 1}", "{v: 1, torsion: 1}"])
def test_robots_that_no_page_holds_are_refused_before_they_are_traced(modes, monkeypatch):
    """What is known before is less than what the page has; and a robot that fits is not refused."""
    beam = f"flexible: {{mass: 1, EI: {{y: 2, z: 3}}, GJ: 1, polar_inertia: 0.1, modes: {modes}}}"
    link = "  - {name: l%d, joint: {type: revolute, name: q%d}, dh: {a: 1, d: 0, alpha: 0, theta: 0}, " + beam + "}\n"
    text = "kronbot: 1\nname: chain\ngravity: [0, 0, 0]\nconvention: standard\nlinks:\n" + "".join(
        link % (i, i) for i in range(2)
    )
    robot = model(text, "exact")
    least = shown_robot.BYTES * drawing.length_of_sections(robot, shown_robot.PLACES[-1])
    monkeypatch.setattr(shown_robot, "MANY", 1)
    monkeypatch.setattr(shown_robot, "OPERATIONS", 0)
    assert 0.5 < least / len(Shown(robot).scene) < 1
    monkeypatch.setattr(document, "MOST", least - 1)
    monkeypatch.setattr(drawing, "scene", None)  # is not traced
    with pytest.raises(ComputationError, match=r"a page of more than 0\.\d MB is too large: take a lower order"):
        Shown(robot)
    monkeypatch.setattr(Robot, "kinematics", None)
    with pytest.raises(ComputationError, match="too large"):
        Robot(robot).view()


@pytest.mark.slow
def test_of_many_beams_the_fewest_places_are_tried_first(monkeypatch):
    """The same places as of few beams, and of a robot that is too large for all nothing larger is traced."""
    beamed, tried, scene = model(BOOM, "0"), [], drawing.scene

    def noted(robot, places, frames=()):
        tried.append(places)
        return scene(robot, places, frames)

    monkeypatch.setattr(drawing, "scene", noted)
    sizes = {places: scene(beamed, places).n_instructions() for places in shown_robot.PLACES}
    for limit, wanted, of_many in ((0, 7, [7]), (sizes[13], 13, [7, 13, 25])):
        monkeypatch.setattr(shown_robot, "OPERATIONS", limit)
        for many in (0, 1):  # of which it has one
            monkeypatch.setattr(shown_robot, "MANY", many)
            tried.clear()
            (link,) = [each for each in Shown(beamed).data(np.zeros((1, beamed.n)))["links"] if each["sections"]]
            assert link["sections"] == wanted
            assert tried == ([25, 13, 7][: 1 + [25, 13, 7].index(wanted)] if many else of_many)
