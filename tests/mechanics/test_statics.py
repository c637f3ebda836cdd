"""Statics against the reference of Piedboeuf's experiment, closed forms, boundary value problems and an optimizer."""

import json
from pathlib import Path

import numpy as np
import pytest
from robots_in_tests import model

from kronbot import description
from kronbot.description import schema
from kronbot.errors import ComputationError
from kronbot.mechanics.load_cases import Case, Sweep
from kronbot.mechanics.statics import Inquiry, calibration_angles, every_order, statics
from kronbot.model.build import build

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "piedboeuf.json").read_text())
GAUGES = ("g1", "g2", "g3")


def piedboeuf(order, shape="polynomial", modes=5):
    source = description.read("piedboeuf")
    text = source.text.replace("shape: polynomial", f"shape: {shape}").replace("v: 5", f"v: {modes}")
    return build(description.load(description.Source("piedboeuf.yaml", text, None)), order)


def equilibria(robot, cases, solver="newton", calibration=None):
    """The series of some cases (angles by joint, force, moment)."""
    rows = []
    for angles, force, moment in cases:
        values = np.array([angles.get(joint.name, 0.0) for joint in robot.joints])
        rows.append(Case(values, np.array([*force, *moment], dtype=float), {}, np.zeros(robot.n)))
    inquiry = Inquiry(rows, solver, calibration)
    outcome = statics(robot, robot.file.statics or schema.Statics(), inquiry, lambda share: None)
    if outcome.error is not None:
        raise outcome.error
    return outcome.result


def reference_cases():
    return [({"theta": np.radians(case["theta_deg"])}, (0, case["fey"], 0), (0, 0, 0)) for case in REFERENCE["cases"]]


def ours(series):
    """Our columns by the words of the reference."""
    return {
        "torque": series["torque.theta"],
        "kappa": np.column_stack([series[f"curvature.{g}"] for g in GAUGES]),
        "kappa_rel": np.column_stack([series[f"curvature_relative.{g}"] for g in GAUGES]),
        "tip_axial": series["tip.arm.x"],
        "tip_v": series["tip.arm.y"],
        "tip_psi": series["tip.arm.rz"],
        "u_R1": np.column_stack([series["displacement_hub.x"], series["displacement_hub.y"]]),
        "u_R0": np.column_stack([series["displacement.x"], series["displacement.y"]]),
        "e_R0": np.column_stack([series["endpoint.x"], series["endpoint.y"]]),
    }


@pytest.mark.parametrize("order", ["0", "1", "2"])
def test_the_linear_statics_are_those_of_the_paper(order):
    robot = piedboeuf(order)
    series = equilibria(robot, reference_cases(), "linear", np.zeros(1)).series
    columns = ours(series)
    if order == "2":
        columns["torque_quadratic"] = series["torque_quadratic.theta"]
    if order != "0":
        columns["eta"] = np.column_stack([series[f"arm.v{i}"] for i in range(1, 6)])
    for name, values in columns.items():
        wanted = np.array([case["models"][f"order{order}"][name] for case in REFERENCE["cases"]])
        # The reference holds doubles; coefficients of x^2 ... x^6 lose eight digits to the condition of their basis.
        assert np.abs(values - wanted).max() < 1e-8, name


def test_the_exact_order_is_the_elastica():
    series = equilibria(piedboeuf("exact", "legendre", 8), reference_cases(), "newton", np.zeros(1)).series
    for name, values in ours(series).items():
        wanted = np.array([case["models"]["exact"][name] for case in REFERENCE["cases"]])
        assert np.abs(values - wanted).max() < 1e-6 * max(1.0, np.abs(wanted).max()), name
