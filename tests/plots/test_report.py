"""The page of a fit, and its picture: what they hold, that nothing runs in it, that names of files are text."""

import base64
import dataclasses
import hashlib
import json
import re

import numpy as np
import pytest

import kronbot
from kronbot.cli.main import run
from kronbot.plots import fit
from kronbot.plots.page import report

ARM = """
kronbot: 1
name: a<b>c
convention: standard
gravity: [0, -9.81, 0]
parameters: {l: 0.5, k: 40}
links:
  - name: a
    joint: {type: revolute, name: q1, elastic: {stiffness: k}}
    dh: {a: l, d: 0, alpha: 0, theta: 0}
    payload: {mass: 1}
"""


@pytest.fixture(scope="module")
def answer():
    arm, q = kronbot.loads(ARM), np.linspace(-2, 2, 40)
    at = arm.with_parameters(l=0.52, k=45).statics(q=q[:, None])
    noise = 1e-4 * np.random.default_rng(0).standard_normal((2, 40))
    table = {"q1": q, "endpoint.x": at["endpoint.x"] + noise[0], "endpoint.y": at["endpoint.y"] + noise[1]}
    return arm.fit(table, sigma={"endpoint": 1e-4}, validate=0.25)


def test_what_a_report_holds(answer):
    html = report.alone(answer)
    assert "<h1>fit of a&lt;b&gt;c" in html and "<b>" not in html
    assert f"<td>{answer.at['parameters']['k']:.6g}</td>" in html and "Residuals of validation rows" in html
    assert "<th>column</th><th>unit</th>" in html and "<td>endpoint.x</td><td>m</td>" in html
    assert "<h3>endpoint.x [m]</h3>" in html
    assert html.count("<figure>") == 7 and html.count('class="held"') == 5 * 10
    assert html.count("<circle") == 2 * 80 + 40 and "l, k: " in html
    bars = re.findall(r'<rect class="fit"[^>]* height="([\d.]+)"', html)
    assert max(map(float, bars)) == pytest.approx(report.HEIGHT - report.BELOW - report.ABOVE, abs=0.1)


def test_measured_points_stand_beside_computed_ones(answer):
    """To one scale in both directions: crosses go from dots as residuals do."""
    plane = re.search(r'<figure><svg[^>]*aria-label="endpoint: y by x.*?</figure>', answer.view().html)[0]
    dots = np.array(re.findall(r'<circle class="\w+" cx="([\d.]+)" cy="([\d.]+)"', plane), dtype=float)
    measured, column = answer.series["measured"], answer.series["column"]
    points = np.column_stack([measured[column == f"endpoint.{axis}"] for axis in "xy"])
    assert len(dots) == len(points) == 40
    scale = np.ptp(dots, axis=0) / np.ptp(points, axis=0)
    assert scale[0] == pytest.approx(scale[1], rel=2e-3)
    crosses = np.array(re.findall(r'class="axis" d="M([\d.]+) ([\d.]+)l6 6', plane), dtype=float) + 3
    assert np.abs(crosses - dots).max() < 0.2  # errors of 1e-4 m where a pixel is 6e-3 m


def test_errors_within_a_decade_are_read_from_zero(answer):
    """Others have a scale of whole decades: labels between them would lie over each other."""
    from matplotlib.figure import Figure

    table, names = answer.arrays["standard_errors"], answer.arrays["standard_errors"].rows
    for ratio, scale in ((9.0, "linear"), (11.0, "log")):
        errors = np.array([1.2e-3, 1.2e-3 * ratio]) * answer["estimates"].max(axis=1)
        arrays = {**answer.arrays, "standard_errors": dataclasses.replace(table, values=errors)}
        axis = Figure().subplots()
        fit._parameters(axis, dataclasses.replace(answer, arrays=arrays), names, 2)
        assert axis.get_xscale() == scale
        assert axis.get_xlim() == pytest.approx((0, 1.05 * 1.2e-3 * ratio) if scale == "linear" else (1e-3, 1e-1))
        assert not any(each.get_text() for each in axis.get_xminorticklabels())


@pytest.mark.slow
def test_the_picture_has_residuals_errors_and_correlations(answer, tmp_path, unsettled):
    axes = fit.draw(answer)
    assert list(axes) == ["residual 0", "histogram", "parameter", "correlation"]
    assert axes.title == "fit to statics, a<b>c, order 2"
    lines = [line for line in axes["residual 0"].lines if line.get_marker() in (".", "o") and len(line.get_xdata()) > 2]
    points = np.concatenate([line.get_xydata() for line in lines])
    drawn = sorted(map(tuple, points / [1, 1e6]))  # µm
    told = sorted(zip(answer["row"].astype(float), answer["residual"], strict=True))
    assert np.array(drawn) == pytest.approx(np.array(told))
    hollow = [line for line in lines if line.get_marker() == "o"]
    assert sum(len(line.get_xdata()) for line in hollow) == 20 and hollow[0].get_markerfacecolor() == "none"
    bands = [line.get_ydata()[0] for line in axes["residual 0"].lines if line.get_linestyle() == "--"]
    assert bands == [-200, 200]
    assert all(tick == round(tick) for tick in axes["residual 0"].get_xticks())
    labels = {name: (axis.get_xlabel(), axis.get_ylabel()) for name, axis in axes.items()}
    assert labels["residual 0"] == ("row", "[µm]") and "SI" not in axes["residual 0"].get_title(loc="left")
    assert labels["histogram"] == ("sigma", "share per sigma")
    assert labels["parameter"][0] == "standard error over size [1]"
    area = sum(bar.get_height() * bar.get_width() for bar in axes["histogram"].patches)
    assert area == pytest.approx(1)
    (shares,) = [line.get_xdata() for line in axes["parameter"].lines]
    np.testing.assert_allclose(shares, answer["standard_errors"] / answer["estimates"].max(axis=1))
    (mesh,) = axes["correlation"].collections
    np.testing.assert_array_equal(np.reshape(mesh.get_array(), (2, 2))[::-1], answer["correlations"])
    answer.plot(tmp_path / "fit.svg")
    assert (tmp_path / "fit.svg").read_bytes().startswith(b"<?xml")


def test_pictures_of_plans_and_trials():
    """What errors are to be expected, and beside them the bias and the spread that there was."""
    arm, q = kronbot.loads(ARM), np.linspace(-2, 2, 12)
    table = {"q1": q, "endpoint.x": 0 * q, "endpoint.y": 0 * q}
    asked = {"sigma": {"endpoint": 1e-4}, "estimate": ["l", "k"]}
    planned = fit.draw(arm.fit(plan=4, candidates=table, **asked))
    assert list(planned) == ["parameter", "correlation"] and planned.title == "plan of a fit, a<b>c, order 2"
    assert planned["parameter"].get_xlabel() == "standard error [SI]"
    answer = arm.fit(table, synthetic=5, **asked)
    (errors, spread, bias) = (line.get_xdata() for line in fit.draw(answer)["parameter"].lines)
    sizes = np.array([0.5, 40])
    np.testing.assert_allclose(errors * sizes, answer["synthetic"][:, 3])
    np.testing.assert_allclose(spread * sizes, answer["synthetic"][:, 2])
    np.testing.assert_allclose(bias * sizes, np.abs(answer["synthetic"][:, 1]))
    (alone,) = fit.draw(arm.fit(table, sigma=asked["sigma"], estimate="l", only="endpoint.x", plan=3, candidates=table))
    assert alone == "parameter"


def test_nothing_runs_without_points_and_it_asks_for_nothing():
    q = np.linspace(-1, 1, 5)
    arm = kronbot.loads(ARM)
    html = arm.fit({"q1": q, "torque.q1": arm.statics(q=q[:, None])["torque.q1"]}, estimate="l").view().html
    assert "<script" not in html and "http" not in html.replace("http-equiv", "") and " style=" not in html
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)[1]
    named = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{named}'" in html


def test_of_many_points_some_are_drawn_and_the_largest_among_them(answer, monkeypatch):
    monkeypatch.setattr(report, "MOST", 10)
    html = report.alone(answer)
    assert html.count("<circle") <= 50 and "of 40 points are drawn" in html


def test_the_command_writes_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.yaml").write_text(ARM)
    (tmp_path / "data.csv").write_text("q1,endpoint.y\n0,-0.01\n0.5,0.22\n1,0.4\n")
    assert run(["fit", "arm.yaml", "--data", "data.csv", "--estimate", "k", "--report", "report.html"]) == 0
    assert "<h2>Parameters</h2>" in (tmp_path / "report.html").read_text()


ROUND = """
kronbot: 1
name: round
convention: standard
gravity: [0, 0, -9.81]
parameters: {l: 0.5, m: 1}
links:
  - name: turret
    joint: {type: revolute, name: q1}
    dh: {a: 0, d: 0.2, alpha: pi/2, theta: 0}
    rigid: {mass: 1, com: [0, 0, 0], inertia: {Ixx: 1, Iyy: 1, Izz: 1}}
  - name: arm
    joint: {type: revolute, name: q2}
    dh: {a: l, d: 0, alpha: 0, theta: 0}
    rigid: {mass: m, com: [-0.1, 0, 0], inertia: {Ixx: 0.1, Iyy: 0.1, Izz: 0.1}}
"""


def scene_of(answer):
    html = answer.view().html
    start = html.index('id="data">') + len('id="data">')
    return json.loads(html[start : html.index("</script>", start)])


def test_the_robot_of_a_fit_stands_in_the_postures_of_its_rows():
    """Rows that validate behind the others, with the loads that were given; the computed point less its error is the
    measured one, and axes that nobody measured have no error."""
    arm, q = kronbot.loads(ROUND), np.random.default_rng(3).uniform(-1, 1, (6, 2))
    x = [arm.kinematics(q=row.tolist(), frame="turret")["pose"][0] for row in q]
    table = {"q1": q[:, 0], "q2": q[:, 1], "force.y": np.arange(6.0), "load.turret.fz": np.full(6, -2.0)}
    table |= {"endpoint.x": np.cos(q[:, 0]), "endpoint.z": [0.1, np.nan, 0.2, 0.3, 0.4, 0.5]}
    table |= {f"position.turret.{axis}": [each[i] for each in x] for i, axis in enumerate("xyz")}
    other = {name: np.asarray(values)[:2] for name, values in table.items()}
    answer = arm.fit(table, estimate="l", sigma={"endpoint": 0.1, "position": 0.1}, validate=other)
    data = scene_of(answer)
    assert data["steps"]["states"] == pytest.approx(np.vstack([q, q[:2]]), abs=1e-11)
    assert data["steps"]["labels"][7].startswith("row 2, validates, angle.q1 = ")
    assert data["measured"]["fitted"] == [True] * 6 + [False] * 2
    by_place = {each["at"]: each["errors"] for each in data["measured"]["points"]}
    fitted = arm.with_parameters(l=answer.at["parameters"]["l"])
    for row, errors in enumerate(by_place.pop("endpoint")):
        at = fitted.kinematics(q=[*q, *q[:2]][row].tolist())["pose"][0]
        x = [*table["endpoint.x"], *other["endpoint.x"]][row]
        assert errors[1] is None and at[0] - errors[0] == pytest.approx(x)
        assert (errors[2] is None) == (row in (1, 7))
    (turret,) = by_place.values()
    assert np.array(turret, dtype=float) == pytest.approx(np.zeros((8, 3)), abs=1e-11)
    arrows = {str(each["at"]): each for each in data["arrows"]}
    assert arrows.pop("endpoint")["vectors"][5] == [0, 5, 0]
    (pull,) = arrows.values()
    assert pull["at"] in {each["at"] for each in data["measured"]["points"]} and pull["vectors"][0] == [0, 0, -2]


def test_records_of_motions_have_their_postures():
    arm = kronbot.loads(ROUND.replace("gravity: [0, 0, -9.81]", "gravity: [0, 0, 0]"))
    t = np.linspace(0, 1, 9)
    table = {"t": t, "torque.q1": 0 * t, "motion.q2": 0.3 * t**2, "q1": 0.1 + 0 * t, "q1_dot": 0 * t}
    at = [arm.kinematics(q=[0.1, float(each)])["pose"][0] for each in table["motion.q2"]]
    table |= {f"endpoint.{axis}": [each[i] for each in at] for i, axis in enumerate("xyz")}
    data = scene_of(arm.fit(table, question="simulate", estimate="l"))
    assert data["steps"]["states"] == pytest.approx(np.column_stack([0.1 + 0 * t, 0.3 * t**2]), abs=1e-8)
    (point,) = data["measured"]["points"]
    assert np.array(point["errors"]) == pytest.approx(np.zeros((9, 3)), abs=1e-8)


def test_estimates_that_make_no_robot_have_a_page_without_one(answer):
    at = {**answer.at, "parameters": {**answer.at["parameters"], "k": -1.0}}
    assert "<script" in answer.view().html and "<script" not in dataclasses.replace(answer, at=at).view().html
