"""The Puma 560 as numbers, read from kronbot's own robot, so that every program gets the same arm.

Viscous friction is left out: not every program has it.
"""

import re
from dataclasses import dataclass

import casadi
import numpy as np

from kronbot import description
from kronbot.model.build import build

JOINTS = 6


@dataclass(frozen=True)
class NumericLink:
    """One link: frame of its joint in the joint's frame before (R, p), and its body in the frame of its own joint.

    ``d``, ``a``, ``alpha`` are its row of standard Denavit-Hartenberg parameters; ``row_com`` and ``row_inertia`` are
    in the frame of that row. ``rotor`` is gear^2 times the inertia of the motor.
    """

    R: np.ndarray
    p: np.ndarray
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    rotor: float
    d: float
    a: float
    alpha: float
    row_com: np.ndarray
    row_inertia: np.ndarray


@dataclass(frozen=True)
class NumericArm:
    """A chain of revolute joints about z, and gravity (m/s2, base frame)."""

    links: tuple[NumericLink, ...]
    gravity: np.ndarray

    @property
    def n(self):
        return len(self.links)

    @property
    def endpoint(self):
        """The frame of the last row in the frame of the last joint: (R, p)."""
        last = self.links[-1]
        c, s = np.cos(last.alpha), np.sin(last.alpha)
        return np.array([[1, 0, 0], [0, c, -s], [0, s, c]]), np.array([last.a, 0, last.d])


def robot():
    """kronbot's model of the frictionless Puma 560."""
    text = re.sub(r"damping: [^,]+, ", "", description.read("puma560").text)
    assert "damping" not in text, "the robot file says damping in another way now"
    return build(description.load(description.Source("frictionless.yaml", text, None)), "0")


def numeric(model):
    """The numbers of a chain of rigid links with standard rows."""

    def values(*expressions):
        function = casadi.Function("numbers", [model.parameters.symbols()], [casadi.densify(e) for e in expressions])
        return [np.array(value) for value in function.call([model.parameters.bound()])]

    links, turn, shift = [], np.eye(3), np.zeros(3)
    for link in model.links:
        (body,) = link.bodies
        before_R, before_p, after, d, a, mass, com, inertia, rotor = values(
            link.row.before.R, link.row.before.r, link.row.after, link.row.d, link.row.along, body.mass, body.com,
            body.inertia, link.joint.rotor_inertia
        )  # fmt: skip
        d, a, com = d.item(), a.item(), com.ravel()
        R, p = turn @ before_R, shift + turn @ before_p.ravel()
        turn, shift = after, np.array([a, 0, d])
        alpha = float(np.arctan2(after[2, 1], after[1, 1]))
        own = (mass.item(), shift + turn @ com, turn @ inertia @ turn.T, rotor.item())
        links.append(NumericLink(R, p, *own, d, a, alpha, com, inertia))
    return NumericArm(tuple(links), values(model.gravity)[0].ravel())
